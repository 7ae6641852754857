uniform mat4 both;
uniform float vertical;
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in float rim;
out vec3 place, facing;
out float at_rim;
void main()
{
    place = position * vec3(1.0, vertical, 1.0);
    facing = normal / vec3(1.0, vertical, 1.0);
    at_rim = rim;
    gl_Position = both * vec4(place, 1.0);
}
