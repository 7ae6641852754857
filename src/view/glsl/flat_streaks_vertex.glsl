/* Pieces of streaks, each a square along it. */
layout(location = 0) in vec4 ends;
layout(location = 1) in float strength;
uniform vec2 size;
out float across, strong;
void main()
{
    vec2 corner = vec2((gl_VertexID & 1) == 0 ? 0.0 : 1.0, gl_VertexID < 2 ? -1.5 : 1.5);
    vec2 way = ends.zw - ends.xy;
    way /= max(length(way), 1.0e-4);
    vec2 p = mix(ends.xy, ends.zw, corner.x) + corner.y * vec2(-way.y, way.x);
    across = corner.y;
    strong = strength;
    gl_Position = vec4(2.0 * p / size - 1.0, 0.0, 1.0);
}
