uniform mat4 both;
uniform float vertical;
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 paint;
layout(location = 3) in float body;
uniform sampler2D poses;
out vec3 place, facing, base_color;
vec3 turned(vec4 q, vec3 v)
{
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}
void main()
{
    vec3 center = texelFetch(poses, ivec2(0, int(body)), 0).xyz;
    vec4 turn = texelFetch(poses, ivec2(1, int(body)), 0);
    place = (center + turned(turn, position)) * vec3(1.0, vertical, 1.0);
    facing = turned(turn, normal) / vec3(1.0, vertical, 1.0);
    base_color = paint;
    gl_Position = both * vec4(place, 1.0);
#if LIT_CORNERS
    thing_light(place, normalize(facing), paint, base_color, facing);
#endif
}
