uniform sampler2D pattern, around;
uniform vec4 around_box; /* x, z of its corner, 1 / its sides */
uniform vec3 floor_color, tile_color, grout_color;
uniform vec4 tank; /* low x, z, high x, z of a floor of tiles */
uniform float floor_height, patch_size, texture_strength, tile, grout, span, tiled;
float line_share(float x, float wide)
{
    float part = grout / tile, a = (x - 0.5 * wide) / tile, b = (x + 0.5 * wide) / tile;
    float fa = floor(a), fb = floor(b);
    return clamp(((fb - fa) * part + min(b - fb, part) - min(a - fa, part)) * tile / wide, 0.0, 1.0);
}
vec3 floor_at(vec3 p, float wide)
{
    vec3 color, n = vec3(0.0, 1.0, 0.0);
    if (tiled > 0.5 || (all(greaterThan(p.xz, tank.xy)) && all(lessThan(p.xz, tank.zw)))) {
        wide = clamp(1.6 * wide, 1e-4 * tile, 64.0 * tile);
        float gu = line_share(p.x, wide), gv = line_share(p.z, wide);
        color = mix(tile_color, grout_color, gu + gv - gu * gv);
    } else {
        vec2 q = p.xz / patch_size, r = p.xz / (0.071 * patch_size);
        float level = log2(max(wide / patch_size * 256.0, 1e-6)), k = 14.0 * wide / patch_size;
        vec3 broad = textureLod(pattern, q, level).rgb / (1.0 + k * k); /* what pixels can show */
        vec3 fine =
            textureLod(pattern, vec2(0.83 * r.x + 0.56 * r.y, 0.83 * r.y - 0.56 * r.x), level + 3.82).rgb /
            (1.0 + k * k / (0.071 * 0.071));
        color = floor_color * (1.0 + texture_strength * (0.15 * broad.x + 0.16 * fine.x));
        n = normalize(vec3(0.0, 1.0, 0.0) -
                      texture_strength * 0.0016 * vec3(broad.y + fine.y, 0.0, broad.z + fine.z));
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
