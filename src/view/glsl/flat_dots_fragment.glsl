in float size;
uniform vec4 ink;
out vec4 color;
void main()
{
    float away = length(gl_PointCoord - 0.5) * (size + 1.0);
    float alpha = ink.a * clamp(0.5 * size - away + 0.5, 0.0, 1.0);
    color = vec4(ink.rgb, alpha);
}
