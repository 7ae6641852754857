uniform vec3 water_color;
uniform float opaque;
vec2 column_at(vec2 xz) /* ground and surface */
{
    vec2 at = fine_at(plan_at(xz));
    float bed = textureLod(bed_map, at, 0.0).r;
    return vec2(bed, bed + max(textureLod(water_map, at, 0.0).r, 0.0));
}
/* The cut face of the water, as through the glass of a tank. */
void main()
{
    vec3 place = place_here();
    vec3 side_normal = side_here();
    vec3 dir = looking_at(place), bent = refract(dir, side_normal, 1.0 / ratio);
    float away = flat_view > 0.5 ? 1.0 : distance(place, eye), wide = away * pixel;
    vec2 room = 1.0 / plan.zw, corner = plan.xy;
    vec2 to =
        (mix(corner, corner + room, step(0.0, bent.xz)) - place.xz) / (abs(bent.xz) + 1e-6) * sign(bent.xz);
    float end = max(min(to.x, to.y), 0.0), pace = max(0.5 * cell, 0.004 * span), t = 0.0, before = 0.0;
    int where = 0;
    for (int k = 0; k < MARCH; k++) {
        t = min(before + pace, end);
        vec3 q = place + t * bent;
        vec2 h = column_at(q.xz);
        if (q.y <= h.r || q.y >= max(h.g, h.r)) {
            where = q.y <= 0.5 * (h.r + max(h.g, h.r)) ? -1 : 1;
            break;
        }
        before = t;
        pace *= 1.35;
        if (t >= end)
            break;
    }
    for (int k = 0; k < 4; k++) {
        float middle = 0.5 * (before + t);
        vec3 q = place + middle * bent;
        vec2 h = column_at(q.xz);
        bool gone = q.y <= h.r || q.y >= max(h.g, h.r);
        t = where != 0 && gone ? middle : t;
        before = gone ? before : middle;
    }
    vec3 q = place + t * bent;
    vec2 p = plan_at(q.xz);
    vec4 g = textureLod(ground_map, fine_at(p), 0.0), w = textureLod(water_map, fine_at(p), 0.0);
    vec3 deep = water_color * (ambient_at(vec3(0.0, 1.0, 0.0)) + sun_color * max(sun.y, 0.0));
    material m = material_at(q, g.xy, wide);
    m.color = wet_down(m, 1.0, w.x);
    vec3 bottom = sunk_light(q, m, g.z, g.w, max(w.x, 1e-5));
    vec3 n = normalize(vec3(w.y, -1.0, w.z)), free = refract(bent, n, ratio);
    vec3 top = mix(sky_at(dot(free, free) > 0.0 ? free : vec3(0.0, 1.0, 0.0)), deep,
                   und_fresnelf(-dot(bent, n), 1.0 / ratio));
    vec3 light = where < 0 ? bottom : where > 0 ? top : deep;
    sunken(place, bent, light, t);
    vec3 left = beer(absorption, t) * (1.0 - opaque);
    light = light * left + deep * (1.0 - left);
    light = mix(light, sky_at(reflect(dir, side_normal)), und_fresnelf(-dot(dir, side_normal), ratio));
    vec2 h = column_at(place.xz);
    light = mix(light, ambient0 * UND_CUT_RIM, und_cut_edge(h.g - place.y, wide));
#if TINTED
    color = vec4(tinted(h.g, vec3(0.0, 1.0, 0.0)), 1.0);
#else
    color = vec4(shown(hazy(light, dir, away)), 1.0);
#endif
}
