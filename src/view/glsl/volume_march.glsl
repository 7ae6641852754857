/* The surface as the place where the distance changes its sign. */
in vec2 place;
out vec4 surface;
uniform sampler2D solid_depth;
uniform mat4 inverse, both;
uniform vec3 eye;
uniform float flat_lens, under;
void main()
{
    vec4 a = inverse * vec4(place, -1.0, 1.0), b = inverse * vec4(place, 1.0, 1.0);
    float z = texelFetch(solid_depth, ivec2(gl_FragCoord.xy), 0).r;
    vec4 c = inverse * vec4(place, 2.0 * z - 1.0, 1.0);
    vec3 from = flat_lens > 0.5 ? a.xyz / a.w : eye, d = normalize(b.xyz / b.w - a.xyz / a.w);
    float solid = dot(c.xyz / c.w - from, d), near = dot(a.xyz / a.w - from, d);
    vec2 ways = box_ways(from, d);
    float begin = max(ways.x, near), end = min(ways.y, solid), side = under > 0.5 ? -1.0 : 1.0;
    if (begin >= end)
        discard;
    float t = begin;
    bool wall = side * at(from + begin * d) < 0.0;
    if (!wall)
        t = march(from, d, begin, end, side);
    if (under > 0.5 && t > end && ways.y < solid) { /* out through a wall */
        t = ways.y;
        wall = true;
    }
    if (t > end)
        discard;
    vec3 p = from + t * d, n = wall ? wall_normal(p) : slope(p);
    surface = vec4(side * n, 1.0);
    vec4 q = both * vec4(p, 1.0);
    gl_FragDepth = 0.5 * q.z / q.w + 0.5;
}
