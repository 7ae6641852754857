in vec4 tint;
in float across;
out vec4 color;
uniform float alpha, wide;
void main()
{
    float a = alpha * tint.a * clamp((1.0 - abs(across)) * wide, 0.0, 1.0);
    color = vec4(tint.rgb * a, a);
}
