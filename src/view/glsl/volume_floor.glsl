uniform sampler2D pattern, around;
uniform vec4 around_box; /* x, z of its corner, 1 / its sides */
uniform vec3 floor_color, tile_color, grout_color;
uniform vec4 tank; /* low x, z, high x, z of a floor of tiles */
uniform float floor_height, patch_size, texture_strength, tile, grout, span, tiled;
vec3 floor_at(vec3 p, float wide)
{
    vec3 color, n = vec3(0.0, 1.0, 0.0);
    if (tiled > 0.5 || (all(greaterThan(p.xz, tank.xy)) && all(lessThan(p.xz, tank.zw)))) {
        wide = und_tile_window(wide, tile);
        float gu = und_line_share(p.x, tile, grout, wide), gv = und_line_share(p.z, tile, grout, wide);
        color = mix(tile_color, grout_color, gu + gv - gu * gv);
    } else {
        float small = UND_GRAIN_FINE * patch_size;
        vec2 q = p.xz / patch_size, r = p.xz / small;
        float level = log2(max(wide / patch_size * 256.0, 1e-6)), some = und_resolved(wide, patch_size),
              keep = und_resolved(wide, small);
        r = UND_GRAIN_COS * r + vec2(UND_GRAIN_SIN, -UND_GRAIN_SIN) * r.yx;
        vec3 broad = textureLod(pattern, q, level).rgb, fine = textureLod(pattern, r, level + 3.82).rgb;
        color = floor_color * und_sand_shade(texture_strength, some, broad.x, keep, fine.x);
        n = normalize(vec3(-und_ground_bump(texture_strength, keep, fine.y, some, broad.y), 1.0,
                           -und_ground_bump(texture_strength, keep, fine.z, some, broad.z)));
    }
    vec2 a = (p.xz - around_box.xy) * around_box.zw;
    float open = all(greaterThan(a, vec2(0.0))) && all(lessThan(a, vec2(1.0))) ? texture(around, a).r : 1.0;
    return color * (open * ambient_at(n) + sun_color * max(dot(n, sun), 0.0) * sun_at(p));
}
/* What a ray in the air meets but for things: floor or sky. */
vec3 beyond(vec3 p, vec3 d, float wide)
{
    float t = d.y < -1e-5 && p.y > floor_height ? (floor_height - p.y) / d.y : 1e9;
    vec3 far = sky_at(d, 0.0);
    if (t > 80.0 * span)
        return far;
#ifdef QUICK
    vec3 near = floor_color * (ambient_at(vec3(0.0, 1.0, 0.0)) + sun_color * max(sun.y, 0.0));
#else
    vec3 near = floor_at(p + t * d, max(wide * t / max(-d.y, 0.05), 1e-6));
#endif
    return mix(near, far, smoothstep(72.0, 80.0, t / span));
}
