uniform mat4 both;
uniform vec2 half_size; /* of the picture, pixels */
uniform float vertical, shutter, focal, rain;
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 speed;
layout(location = 2) in float radius;
out vec2 at; /* from the head, pixels: along the way back, across it */
out vec3 place;
out float far_end, round_half, share, chance;
/* A disc drawn out along its way while the shutter is open.  What is drawn covers as much as the drop: a disc
 * with a smooth edge one pixel wide has the area pi (half^2 + 1/20), and its way adds 2 half length. */
void main()
{
    vec3 stretch = vec3(1.0, vertical, 1.0), way = -speed * stretch * shutter;
    place = position * stretch;
    vec4 head = both * vec4(place, 1.0), tail = both * vec4(place + way, 1.0);
    vec2 from = head.xy / head.w * half_size, to = tail.xy / tail.w * half_size - from;
    far_end = min(length(to), 400.0);
    vec2 along = far_end > 1e-3 ? to / length(to) : vec2(1.0, 0.0);
    float wide = radius * focal / head.w, r2 = wide * wide;
    round_half = rain > 0.5 ? max(wide, 0.55) : sqrt(max(r2 - 0.05, 0.25));
    share = rain > 0.5 ? 0.55 * clamp(wide / round_half, 0.18, 1.0)
                       : min(3.1415927 * r2 /
                                 (3.1415927 * (round_half * round_half + 0.05) + 2.0 * round_half * far_end),
                             1.0);
    chance = fract(float(gl_InstanceID) * 0.61803399);
    float pad = round_half + 1.0;
    at = vec2((gl_VertexID & 1) == 0 ? -pad : far_end + pad, gl_VertexID < 2 ? -pad : pad);
    vec2 corner = from + along * at.x + vec2(-along.y, along.x) * at.y;
    bool seen = head.w > 0.0 && tail.w > 0.0 && wide < 0.25 * half_size.y;
    gl_Position = seen ? vec4(corner / half_size, head.z / head.w, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}
