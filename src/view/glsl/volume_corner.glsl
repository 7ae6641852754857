layout(location = 0) in vec3 corner_place;
layout(location = 1) in vec4 corner_normal;
layout(location = 2) in vec4 corner_color;
out vec3 point, normal;
out vec4 tint;
uniform mat4 both;
void main()
{
    point = corner_place;
    normal = corner_normal.xyz;
    tint = vec4(pow(corner_color.rgb, vec3(2.2)), corner_color.a);
    gl_Position = both * vec4(corner_place, 1.0);
}
