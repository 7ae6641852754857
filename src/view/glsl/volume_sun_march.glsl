/* What und_space_sun_text finds, by the distance.  A surface bent like a lens gathers the light behind it, or
 * spreads it: by 1 - way * power, where the power is that of a thin lens. */
in vec2 place;
out vec4 way;
uniform mat4 inverse;
uniform float range, ratio;
void main()
{
    vec4 a = inverse * vec4(place, -1.0, 1.0), b = inverse * vec4(place, 1.0, 1.0);
    vec3 d = normalize(b.xyz - a.xyz);
    vec2 ways = box_ways(a.xyz, d);
    float t = max(ways.x, 0.0), sum = 0.0, first = 1e9;
    way = vec4(0.0, 1.0, 0.0, 1.0);
    for (int i = 0; i < 160; i++) {
        if (t >= ways.y)
            break;
        float here = at(a.xyz + t * d), go = min(max(0.9 * abs(here), 0.5 * cell), ways.y - t);
        sum += clamp(0.5 - here / go, 0.0, 1.0) * go;
        first = here < 0.0 ? min(first, t) : first;
        t += go;
    }
    if (first > 1e8)
        return;
    vec3 p = a.xyz + first * d;
    vec2 h = vec2(2.0 * cell, 0.0);
    float bent = (at(p + h.xyy) + at(p - h.xyy) + at(p + h.yxy) + at(p - h.yxy) + at(p + h.yyx) +
                  at(p - h.yyx) - 6.0 * at(p)) /
                 (h.x * h.x);
    bent = first > max(ways.x, 0.0) + 0.5 * cell ? bent : 0.0; /* walls are flat */
    float lens = 1.0 - clamp(sum * bent * (1.0 - 1.0 / ratio), -1.5, 0.62);
    way = vec4(sum, 1.0 / lens, 0.0, first / range);
}
