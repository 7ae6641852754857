in float across, strong;
uniform vec3 ink;
out vec4 color;
void main()
{
    color = vec4(ink, 0.85 * strong * clamp(1.4 - abs(across), 0.0, 1.0));
}
