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
vec3 glitter(vec3 dir, vec2 slope, float variance)
{
    vec3 h = normalize(sun - dir);
    vec2 off = -h.xz / max(h.y, 0.05) - slope;
    float a = dot(off, off) / (2.0 * variance), mirrored = und_fresnelf(-dot(dir, h), ratio);
    return h.y < 0.05 ? vec3(0.0) : sun_color * und_glitter(a, variance, mirrored, h.y * h.y, -dir.y);
}
/* Noise that foam is woven of. */
float lace_at(vec2 at, float level)
{
    vec2 finer = UND_FOAM_FINE * at + vec2(UND_FOAM_SHIFT, 0.0);
    return und_foam_lace(textureLod(noise_map, at, level).a, textureLod(noise_map, finer, level + 1.5).a);
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
    float variance = und_facet_variance(wide, cell);
#if DRIFT
    vec4 drift = textureLod(drift_map, coarse_at(p), 0.0);
    vec2 flow = drift.zw;
#else
    vec2 flow = vec2(0.0);
#endif
    /* Patterns drift with the water: two copies, each taken back while it cannot be seen (Max & Becker 1996).
     */
    vec2 part = fract(vec2(drift_phase, drift_phase + 0.5)),
         share = vec2(und_drift_share(part.x), und_drift_share(part.y));
    vec2 first = place.xz - (part.x - 0.5) * UND_DRIFT_PERIOD * flow,
         second = place.xz - (part.y - 0.5) * UND_DRIFT_PERIOD * flow;
    {
        float keep = und_resolved(wide, ripple_period), scale = und_ripple_slope(ripples * full);
        float level = level_for(wide, ripple_period);
        vec2 u = second / ripple_period;
        vec2 a =
            textureLod(ripple_map, first / ripple_period + ripple_run * vec2(1.0, UND_RIPPLE_ASIDE), level)
                .rg;
        u = vec2(und_ripple_u(u.x, u.y, ripple_run), und_ripple_w(u.x, u.y, ripple_run));
        vec2 b = textureLod(ripple_map, u, level + 1.2).ba;
        small = keep * scale * (share.x * a + share.y * b) / length(share);
        variance += und_ripple_lost(keep, scale);
    }
    vec3 lens =
        normalize(vec3(-slope.x - UND_LENS_RIPPLES * small.x, 1.0, -slope.y - UND_LENS_RIPPLES * small.y));
    slope += small;
    vec3 n = normalize(vec3(-slope.x, 1.0, -slope.y));
    float facing = -dot(dir, n);
    if (facing < UND_LEAST_FACING) { /* a slope turned away, within a pixel: seen edge on */
        n = normalize(n - dir * (UND_LEAST_FACING - facing));
        lens = n;
        facing = UND_LEAST_FACING;
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
    m.color = wet_down(m, und_wet_by_film(water, cell), water);
    vec3 below = sunk_light(q, m, gq.z, gq.w * und_shade_in_water(shade_at(q)), water);
    sunken(place, bent, below, t);
    vec3 left = beer(lost, t) * (1.0 - opaque);
    below = below * left + deep * (1.0 - left);
    vec3 up = reflect(dir, n);
    up.y = max(up.y, 0.01);
    vec3 above = mirrored(place, normalize(up));
    float wet = wetness * clamp(textureLod(wet_map, coarse_at(p), 0.0).r, 0.0, 1.0);
    vec3 light = mix(below, above, und_fresnelf(facing, ratio) * mix(und_wet_sheen(wet, sheen), 1.0, full));
    light += glitter(dir, slope, variance) * lit * full;
#if DRIFT
    float cover = 0.0;
    for (int k = 0; k < (drift.x > UND_FOAM_LEAST ? 1 : 0); k++) {
        float level = level_for(wide, foam_period);
        vec2 a = first / foam_period, b = second / foam_period + vec2(UND_FOAM_SECOND, 0.0);
        float web = dot(share, vec2(lace_at(a, level), lace_at(b, level)));
        cover = und_foam_share(drift.x, web, wide, foam_period);
    }
    vec3 round = normalize(vec3(UND_FOAM_ROUND * n.x, n.y, UND_FOAM_ROUND * n.z));
    vec3 white = (ambient_at(round) + sun_color * lit * max(dot(round, sun), 0.0)) * foam_light;
    light = mix(light, white, cover);
#endif
#if TINTED
    color = vec4(lined(tinted(place.y, normalize(vec3(-w.y, 1.0, -w.z))), p, wide), 1.0);
#else
    color = vec4(shown(hazy(lined(light, p, wide), dir, away)), 1.0);
#endif
}
