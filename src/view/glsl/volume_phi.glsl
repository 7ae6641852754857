/* Lines through the distance: steps as long as it allows, then the place between the last two.  The liquid is
 * closed at the grid's walls. */
uniform sampler3D phi;
uniform vec3 phi_origin, phi_scale, box_low, box_high; /* scale: from metres to the texture */
uniform float cell;
float at(vec3 p)
{
    return textureLod(phi, (p - phi_origin) * phi_scale, 0.0).r;
}
vec2 box_ways(vec3 o, vec3 d) /* where a line enters the box and leaves it */
{
    vec3 i =
        1.0 / (abs(d) + 1e-7) * vec3(d.x < 0.0 ? -1.0 : 1.0, d.y < 0.0 ? -1.0 : 1.0, d.z < 0.0 ? -1.0 : 1.0);
    vec3 a = (box_low - o) * i, b = (box_high - o) * i, n = min(a, b), f = max(a, b);
    return vec2(max(max(n.x, n.y), n.z), min(min(f.x, f.y), f.z));
}
vec3 wall_normal(vec3 p)
{
    vec3 a = p - box_low, b = box_high - p, m = min(a, b);
    float least = min(min(m.x, m.y), m.z);
    vec3 side = vec3(a.x < b.x ? -1.0 : 1.0, a.y < b.y ? -1.0 : 1.0, a.z < b.z ? -1.0 : 1.0);
    return m.x == least   ? vec3(side.x, 0.0, 0.0)
           : m.y == least ? vec3(0.0, side.y, 0.0)
                          : vec3(0.0, 0.0, side.z);
}
vec3 slope(vec3 p) /* from the corners of a tetrahedron */
{
    float h = 0.8 * cell;
    vec2 k = vec2(1.0, -1.0);
    return normalize(k.xyy * at(p + h * k.xyy) + k.yyx * at(p + h * k.yyx) + k.yxy * at(p + h * k.yxy) +
                     vec3(at(p + vec3(h))) + vec3(0.0, 1e-12, 0.0));
}
/* From t on to where `side` times the distance is below 0; 1e9: nowhere before the end. */
float march(vec3 o, vec3 d, float t, float end, float side)
{
    float before = t, last = 0.0, here = 0.0;
    for (int i = 0; i < 160; i++) {
        here = side * at(o + t * d);
        if (here < 0.0 || t > end)
            break;
        before = t;
        last = here;
        t += max(0.9 * here, 0.4 * cell);
    }
    if (here >= 0.0)
        return 1e9;
    for (int i = 0; i < 3; i++) { /* regula falsi, as the Illinois rule mends it */
        float m = before + (t - before) * last / max(last - here, 1e-12), v = side * at(o + m * d);
        if (v < 0.0) {
            t = m;
            here = v;
            last *= 0.5;
        } else {
            before = m;
            last = v;
            here *= 0.5;
        }
    }
    return before + (t - before) * last / max(last - here, 1e-12);
}
