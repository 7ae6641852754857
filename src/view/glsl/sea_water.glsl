uniform sampler2D ripple_map;
uniform sampler2D drift_map; /* foam, dye, velocity */
uniform vec3 water_color, dye_color;
uniform float ripples, ripple_period, ripple_run, shore, dye_strength, foam_light, foam_period, drift_phase,
    opaque;
/* How far below the ground a ray is after t metres. */
float sunk(vec3 from, vec3 dir, float t)
{
    vec3 q = from + t * dir;
    return textureLod(bed_map, fine_at(plan_at(q.xz)), 0.0).r - q.y;
}
/* Where a bent ray meets the ground: flat bottom first (Kass & Miller 1990, fig. 3); where that is under the
 * ground it went in before, at a slope or a wall, and else it goes on. */
float bottom_distance(vec3 p, vec3 dir, float depth)
{
    float down = max(-dir.y, 0.05), above = 0.0, under = -1.0, off_above = -depth, off_under = 1.0;
    float t = depth / down;
    for (int k = 0; k < BOTTOM_STEPS; k++) {
        float off = sunk(p, dir, t);
        bool sunken_in = off > 0.0;
        under = sunken_in ? t : under;
        off_under = sunken_in ? off : off_under;
        above = sunken_in ? above : t;
        off_above = sunken_in ? off_above : off;
        float line = (above * off_under - under * off_above) / (off_under - off_above);
        float halved = 0.5 * (above + under);
        t = under < 0.0 ? t - 0.8 * off / down : mix(line, halved, smoothstep(0.1, 0.5, off_under / depth));
    }
    return off_under > 0.5 * depth && under > 0.0 ? above : t; /* a wall is as what stands before it */
}
/* The sun in the waves: microfacets whose slopes scatter about the surface's with the given variance. */
vec3 glitter(vec3 dir, vec2 slope, float variance)
{
    vec3 h = normalize(sun - dir);
    vec2 off = -h.xz / max(h.y, 0.05) - slope;
    float a = dot(off, off) / (2.0 * variance), y2 = h.y * h.y;
    float shine = 3.1415927 * fresnel(-dot(dir, h), ratio) * exp(-a) /
                  (6.2831853 * variance * 4.0 * max(-dir.y, 0.15) * y2 * y2);
    return h.y < 0.05 ? vec3(0.0) : sun_color * min(shine, 8.0);
}
void main()
{
    vec3 place = place_here();
    vec2 p = plan_at(place.xz);
    vec4 w = textureLod(water_map, fine_at(p), 0.0);
    vec3 dir = looking_at(place);
    float away = flat_view > 0.5 ? 1.0 : distance(place, eye);
    float wide = away * pixel / sqrt(max(-dir.y, 0.08)), depth = w.x, full = smoothstep(0.0, shore, depth);
    vec4 g = textureLod(ground_map, fine_at(p), 0.0);
    vec2 slope = mix(g.xy, w.yz, full), small = vec2(0.0);
    float variance = 1.6e-4 + 2e-4 * min(1.0, wide * wide / (cell * cell));
#if DRIFT
    vec4 drift = textureLod(drift_map, coarse_at(p), 0.0);
    vec2 flow = drift.zw;
#else
    vec2 flow = vec2(0.0);
#endif
    /* Patterns drift with the water: two copies, each taken back while it cannot be seen (Max & Becker 1996).
     */
    vec2 part = fract(vec2(drift_phase, drift_phase + 0.5)), share = 1.0 - abs(2.0 * part - 1.0);
    vec2 first = place.xz - (part.x - 0.5) * 1.5 * flow, second = place.xz - (part.y - 0.5) * 1.5 * flow;
    {
        float keep = resolved(wide, ripple_period), scale = 0.06 * ripples * full * 1.4142136;
        float level = level_for(wide, ripple_period);
        vec2 u = second / ripple_period;
        vec2 a = textureLod(ripple_map, first / ripple_period + ripple_run * vec2(1.0, 0.3), level).rg;
        u = 2.1 * u + vec2(1.1, -1.1) * u.yx + ripple_run * vec2(-1.6, 0.8) + vec2(0.37, 0.0);
        vec2 b = textureLod(ripple_map, u, level + 1.2).ba;
        small = keep * scale * (share.x * a + share.y * b) / length(share);
        variance += (1.0 - keep * keep) * 0.5 * scale * scale;
    }
    vec3 lens = normalize(vec3(-slope.x - 0.4 * small.x, 1.0, -slope.y - 0.4 * small.y));
    slope += small;
    vec3 n = normalize(vec3(-slope.x, 1.0, -slope.y));
    float facing = -dot(dir, n);
    if (facing < 0.03) { /* a slope turned away, within a pixel: seen edge on */
        n = normalize(n - dir * (0.03 - facing));
        lens = n;
        facing = 0.03;
    }
    lens = dot(dir, lens) < -0.02 ? lens : n;
    vec3 bent = refract(dir, lens, 1.0 / ratio);
    vec3 lost = absorption, deep = water_color;
#if DRIFT
    float dye = clamp(drift.y, 0.0, 1.0);
    lost += (1.0 - dye_color) * dye_strength * dye;
    deep = mix(deep, dye_color, dye);
#endif
    float lit = w.w * shade_at(place);
    deep *= ambient_at(vec3(0.0, 1.0, 0.0)) + sun_color * lit * max(sun.y, 0.0);
    float t = bottom_distance(place, bent, depth);
#if TILES
    /* The walls of a tiled pool stand at the edges. */
    vec2 to = (step(0.0, bent.xz) - p) / plan.zw / (bent.xz + sign(bent.xz) * 1e-6);
    float edge = max(min(to.x, to.y), 0.0);
    bool wall = edge < t;
    vec3 wall_normal = to.x < to.y ? vec3(-sign(bent.x), 0.0, 0.0) : vec3(0.0, 0.0, -sign(bent.z));
    t = min(t, edge);
#endif
    vec3 q = place + t * bent;
    vec2 pq = plan_at(q.xz);
    vec4 gq = textureLod(ground_map, fine_at(pq), 0.0);
    float water = max(textureLod(water_map, fine_at(pq), 0.0).r, 1e-5);
#if TILES
    vec3 slope_normal = normalize(vec3(-gq.x, 1.0, -gq.y));
    material m = tiles_at(q, wall ? wall_normal : slope_normal, wide);
    water = wall ? max(place.y - q.y, 1e-5) : water;
#else
    material m = material_at(q, gq.xy, wide);
#endif
    m.color = wet_down(m, clamp(water / (0.05 * cell), 0.0, 1.0), water);
    vec3 below = sunk_light(q, m, gq.z, gq.w * (0.2 + 0.8 * shade_at(q)), water);
    sunken(place, bent, below, t);
    vec3 left = exp(-lost * t) * (1.0 - opaque);
    below = below * left + deep * (1.0 - left);
    vec3 up = reflect(dir, n);
    up.y = max(up.y, 0.01);
    vec3 above = mirrored(place, normalize(up));
    float wet = wetness * clamp(textureLod(wet_map, coarse_at(p), 0.0).r, 0.0, 1.0);
    vec3 light = mix(below, above, fresnel(facing, ratio) * mix(wet * wet * sheen, 1.0, full));
    light += glitter(dir, slope, variance) * lit * full;
#if DRIFT
    float foam = clamp(drift.x, 0.0, 1.0), cover = 0.0;
    for (int k = 0; k < (foam > 0.004 ? 1 : 0); k++) {
        float level = level_for(wide, foam_period), fuzz = 30.0 * wide / foam_period;
        vec2 weave = vec2(0.62, 0.42), a = first / foam_period, b = second / foam_period;
        vec2 lace = vec2(textureLod(noise_map, a, level).a,
                         textureLod(noise_map, 2.9 * a + vec2(0.4, 0.0), level + 1.5).a);
        vec2 other = vec2(textureLod(noise_map, b + vec2(0.37, 0.0), level).a,
                          textureLod(noise_map, 2.9 * b + vec2(0.4, 0.0), level + 1.5).a);
        float web = dot(share, vec2(dot(lace, weave), dot(other, weave))),
              soft = 0.22 + min(fuzz * fuzz, 1.0);
        cover = clamp(3.0 * foam, 0.0, 1.0) * smoothstep(1.0 - foam - soft, 1.0 - foam + soft, web);
    }
    vec3 round = normalize(vec3(0.4 * n.x, n.y, 0.4 * n.z));
    vec3 white = (ambient_at(round) + sun_color * lit * max(dot(round, sun), 0.0)) * foam_light;
    light = mix(light, white, cover);
#endif
#if TINTED
    color = vec4(lined(tinted(place.y, normalize(vec3(-w.y, 1.0, -w.z))), p, wide), 1.0);
#else
    color = vec4(shown(hazy(lined(light, p, wide), dir, away)), 1.0);
#endif
}
