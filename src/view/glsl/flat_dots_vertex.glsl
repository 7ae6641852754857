/* Round dots; the radius in metres, or at least `least` pixels. */
layout(location = 0) in vec3 dot_at;
uniform vec2 middle, reach; /* m */
uniform float per_metre, least, most;
out float size;
void main()
{
    size = clamp(2.0 * dot_at.z * per_metre, least, most);
    gl_Position = vec4((dot_at.xy - middle) / reach, 0.0, 1.0);
    gl_PointSize = size + 1.0;
}
