/* What besides ground and water is seen or shades; colours that show heights. */
#if BODIES
uniform sampler2D body_shadow_map; /* how far towards the sun bodies are */
uniform vec4 sun_u, sun_v, sun_w;  /* axes of that map and its origin; w: m per unit */
uniform sampler2D things_map;      /* bodies as seen: colour, and how far along the view */
uniform vec4 things_box;           /* where they are in the window: low and high, -1 to 1 */
uniform float things_zoom;         /* that picture is wider than the window: water bends views */
uniform mat4 both;
/* How much of the sun bodies let through: four texels around the place, each blended over its neighbours. */
float shade_at(vec3 p)
{
    vec2 at = vec2(dot(p, sun_u.xyz) + sun_u.w, dot(p, sun_v.xyz) + sun_v.w);
    float deep = min(dot(p, sun_w.xyz) + sun_w.w - 0.004, 0.9999);
    float hidden = 0.0;
    vec2 texel = 1.4 / vec2(textureSize(body_shadow_map, 0));
    for (int k = 0; k < (at == clamp(at, 0.0, 1.0) ? SHADE_TAPS : 0); k++) {
        vec2 q = at + texel * (vec2(k & 1, k >> 1) - 0.5);
        hidden += textureLod(body_shadow_map, q, 0.0).r < deep ? 1.0 / float(SHADE_TAPS) : 0.0;
    }
    return 1.0 - hidden;
}
/* A body under water, where the bent ray passes behind what its picture shows. */
void sunken(vec3 from, vec3 bent, inout vec3 below, inout float t)
{
    float on = dot(bent, forward), start = dot(from - eye, forward), before = start, met = -1.0;
    vec3 found = below;
    vec4 near = both * vec4(from, 1.0), end = both * vec4(from + t * bent, 1.0);
    vec2 one = near.xy / near.w, two = end.xy / end.w;
    bool apart =
        any(greaterThan(min(one, two), things_box.zw)) || any(lessThan(max(one, two), things_box.xy));
    for (int k = 1; k <= (apart ? 0 : BODY_STEPS); k++) {
        float far = t * float(k) / float(BODY_STEPS), here = start + far * on;
        vec4 clip = both * vec4(from + far * bent, 1.0);
        vec2 at = 0.5 + 0.5 * things_zoom * clip.xy / clip.w;
        vec4 thing = textureLod(things_map, at, 0.0);
        bool between = at == clamp(at, 0.0, 1.0) && thing.a > before - 1.2 * (here - before) &&
                       thing.a <= here && met < 0.0;
        met = between ? (thing.a - start) / max(on, 0.02) : met;
        found = between ? thing.rgb : found;
        before = here;
    }
    for (int k = 0; k < (met > 0.0 ? 2 : 0); k++) { /* and where the ray really meets it */
        vec4 clip = both * vec4(from + met * bent, 1.0);
        vec4 thing = textureLod(things_map, 0.5 + 0.5 * things_zoom * clip.xy / clip.w, 0.0);
        met = thing.a > start ? (thing.a - start) / max(on, 0.02) : met;
        found = thing.a > start ? thing.rgb : found;
    }
    if (met > 0.0) {
        below = found * beer(absorption, UND_SKY_WAY * max(met * -bent.y, 0.0));
        t = met;
    }
}
#else
float shade_at(vec3 p)
{
    return 1.0;
}
void sunken(vec3 from, vec3 bent, inout vec3 below, inout float t) {}
#endif
/* The sky, or a hill before it. */
vec3 mirrored(vec3 from, vec3 dir)
{
    vec3 light = sky_at(dir);
#if GOOD
    float t = 0.0, pace = 1.5 * cell, met = -1.0;
    for (int k = 0; k < 10; k++) {
        t += pace;
        pace *= 1.6;
        vec3 q = from + t * dir;
        vec2 p = plan_at(q.xz);
        bool inside = all(equal(p, clamp(p, 0.0, 1.0)));
        if (!inside || q.y > ground_high)
            break;
        if (textureLod(bed_map, fine_at(p), 0.0).r > q.y) {
            met = t;
            break;
        }
    }
    if (met > 0.0) {
        float low = met - pace / 1.6;
        for (int k = 0; k < 4; k++) {
            float middle = 0.5 * (low + met);
            vec3 q = from + middle * dir;
            bool under = textureLod(bed_map, fine_at(plan_at(q.xz)), 0.0).r > q.y;
            met = under ? middle : met;
            low = under ? low : middle;
        }
        vec3 q = from + met * dir;
        vec4 g = textureLod(ground_map, fine_at(plan_at(q.xz)), 0.0);
        material m = material_at(q, g.xy, 4.0 * cell);
        light = dry_light(q, m, g.z, g.w);
    }
#endif
    return light;
}
#if LINES
/* Lines through the frame's samples. */
vec3 lined(vec3 light, vec2 p, float wide)
{
    vec2 at = p * vec2(textureSize(wet_map, 0) - 1), off = abs(fract(at + 0.5) - 0.5) * cell / wide;
    vec2 line = (1.0 - smoothstep(0.5, 1.3, off)) * (1.0 - smoothstep(0.2, 0.6, wide / cell));
    return mix(light, vec3(0.02), 0.55 * max(line.x, line.y));
}
#else
vec3 lined(vec3 light, vec2 p, float wide)
{
    return light;
}
#endif
#if TINTED
uniform float tint_low, tint_per_m;
/* The colour that the legend has for a height, and a little relief: as it is where the water is flat. */
vec3 tinted(float y, vec3 n)
{
    return map_color((y - tint_low) * tint_per_m) * clamp(1.0 + 0.6 * (dot(n, sun) - sun.y), 0.7, 1.2);
}
#endif
