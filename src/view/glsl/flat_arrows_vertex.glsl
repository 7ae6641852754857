/* Arrows: each a square along its way, in pixels. */
layout(location = 0) in vec4 arrow; /* middle, way */
uniform vec2 size;                  /* of the viewport */
out vec2 at;                        /* along from the tail, across */
out float len;
void main()
{
    vec2 corner = vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, gl_VertexID < 2 ? -1.0 : 1.0);
    len = max(length(arrow.zw), 1.0e-3);
    vec2 along = arrow.zw / len, across = vec2(-along.y, along.x);
    vec2 half_size = vec2(0.5 * len + 3.0, 7.0);
    at = vec2(corner.x * half_size.x + 0.5 * len, corner.y * half_size.y);
    vec2 p = arrow.xy + corner.x * half_size.x * along + corner.y * half_size.y * across;
    gl_Position = vec4(2.0 * p / size - 1.0, 0.0, 1.0);
}
