in vec2 before;
uniform vec2 size; /* texels */
out vec4 color;
void main()
{
    /* Area before over area after: a texel here, what it was there. */
    vec2 dx = dFdx(before) * size.x, dy = dFdy(before) * size.y;
    color = vec4(min(abs(dx.x * dy.y - dx.y * dy.x), 60.0), 0.0, 0.0, 1.0);
}
