uniform sampler2D solid_color, solid_depth;
uniform mat4 both, inverse;
uniform vec3 scatter, base_color;
uniform float ratio, gloss, metal, painted, under, pixel, flat_lens;
vec3 highlight(vec3 d, vec3 n) /* the sun on slightly uneven water */
{
    vec3 h = normalize(sun - d);
    return sun_color * und_highlight(dot(h, n), und_fresnelf(-dot(d, h), ratio), -dot(d, n));
}
vec3 body(vec3 n)
{
    return scatter * (ambient_at(n) + sun_color * und_wrapped_sun(dot(n, sun)));
}
/* What the picture of solids shows at q, for liquid that is seen at p; `gap`: metres from q on to what it
 * shows; 1e9: it is no part of the picture, or hidden. */
vec3 behind(vec3 q, vec3 p, out float gap)
{
    vec4 c = both * vec4(q, 1.0), straight = both * vec4(p, 1.0);
    vec2 s = straight.xy / straight.w * 0.5 + 0.5;
    vec2 uv = c.w > 0.0 ? c.xy / c.w * 0.5 + 0.5 : s;
    vec2 off = max(abs(uv - 0.5) - 0.5, vec2(0.0));
    uv = clamp(uv, vec2(0.001), vec2(0.999));
    float z = 2.0 * textureLod(solid_depth, uv, 0.0).r - 1.0;
    vec4 w = inverse * vec4(2.0 * uv - 1.0, z, 1.0);
    gap = distance(w.xyz / w.w, eye) - distance(q, eye);
    if (z < straight.z / straight.w || off.x + off.y > 0.0) { /* before the liquid */
        uv = clamp(s, vec2(0.001), vec2(0.999));
        gap = 1e9;
    }
    return textureLod(solid_color, uv, 0.0).rgb;
}
/* The surface at p, with its normal against the line of sight d; `way`: metres of liquid behind it. Liquid
 * that light goes through, and that which is opaque, are two programs: what is not needed costs time. */
#ifdef OPAQUE
vec3 water(vec3 p, vec3 d, vec3 n, float way, vec3 paint)
{
    float facing = clamp(-dot(d, n), UND_LEAST_FACING, 1.0), direct = max(dot(n, sun), 0.0);
    vec3 own = painted > 0.5 ? paint : base_color, mirrored = beyond(p, reflect(d, n), 0.02);
    vec3 light = ambient_at(n) + sun_color * direct * sun_at(p + 0.004 * span * n);
    vec3 dull = mix(own * light, mirrored, gloss * und_fresnelf(facing, ratio));
    vec3 shiny = mix(own, vec3(1.0), und_schlick(facing)) * mirrored;
    return mix(dull, shiny, metal) + gloss * highlight(d, n);
}
#else
/* Seen along r, which has entered at p: light that comes through the liquid. */
#ifdef INSIDE
vec3 through(vec3 p, vec3 r, vec3 own, float way)
{
    vec3 from = p, c = own;
    float sum = 0.0;
    for (int k = 0; k < BOUNCES; k++) {
        float wall = box_ways(from, r).y, t = march(from, r, 0.6 * cell, wall, -1.0);
        bool out_of_box = t >= wall;
        t = max(min(t, wall), 0.0);
        sum += t;
        vec3 q = from + t * r, n = out_of_box ? wall_normal(q) : slope(q);
        float gap;
        vec3 seen = behind(q, p, gap);
        c = seen;
        if (abs(gap) < 2.0 * cell) /* something solid, or the floor */
            break;
        vec3 o = refract(r, -n, ratio);
        if (dot(o, o) > 0.5) {
            float down = o.y < -1e-3 ? (q.y - floor_height) / -o.y : 1e9;
            float far = min(down, 3.0 * span), back = und_fresnelf(max(dot(r, n), 0.0), 1.0 / ratio);
            c = down > 1e8 ? sky_at(o, 0.0) : behind(q + far * o, p, gap);
            c = down < 1e8 && gap > 1e8 ? beyond(q, o, 0.01) : c;
            c = mix(c, own, back);
            break;
        }
        r = reflect(r, -n);
        from = q;
    }
    vec3 left = beer(absorption, sum);
    return c * left + own * (1.0 - left);
}
#else
vec3 through(vec3 p, vec3 r, vec3 own, float way)
{
    if (r.y < 0.0)
        way = min(way, max(p.y - floor_height, 0.0) / -r.y);
    float gap;
    vec3 left = beer(absorption, way);
    return behind(p + r * way, p, gap) * left + own * (1.0 - left);
}
#endif
vec3 water(vec3 p, vec3 d, vec3 n, float way, vec3 paint)
{
    float facing = clamp(-dot(d, n), UND_LEAST_FACING, 1.0), index = under > 0.5 ? 1.0 / ratio : ratio, gap;
    vec3 r = refract(d, n, 1.0 / index), own = body(n);
    float mirror = und_fresnelf(facing, index);
    if (under > 0.5)
        return mix(behind(p + r * 0.5 * span, p, gap), own, mirror);
    vec3 up = beyond(p, reflect(d, n), 2.0 * pixel);
    return mix(through(p, r, own, way), up, mirror) + highlight(d, n);
}
#endif
