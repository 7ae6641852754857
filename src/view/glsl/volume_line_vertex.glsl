/* A line as wide as asked for, whatever its distance. */
layout(location = 0) in vec3 from;
layout(location = 1) in vec3 to;
layout(location = 2) in vec4 line_color;
out vec4 tint;
out float across;
uniform mat4 both;
uniform vec2 pixels; /* of the target */
uniform float wide, near_plane;
void main()
{
    vec4 a = both * vec4(from, 1.0), b = both * vec4(to, 1.0);
    if (a.w < near_plane)
        a = mix(a, b, (near_plane - a.w) / max(b.w - a.w, 1e-9));
    if (b.w < near_plane)
        b = mix(b, a, (near_plane - b.w) / max(a.w - b.w, 1e-9));
    vec2 d = (b.xy / b.w - a.xy / a.w) * pixels;
    d = length(d) > 1e-6 ? normalize(d) : vec2(1.0, 0.0);
    across = (gl_VertexID & 1) == 0 ? -1.0 : 1.0;
    vec4 p = gl_VertexID < 2 ? a : b;
    p.xy += across * vec2(-d.y, d.x) * wide / pixels * p.w;
    p.z -= 2e-4 * p.w; /* before the wall it lies on */
    tint = vec4(pow(line_color.rgb, vec3(2.2)), line_color.a);
    gl_Position = p;
}
