/* What the ground is made of and how it is lit. */
uniform sampler2D bed_map;    /* the ground, m */
uniform sampler2D ground_map; /* its slopes, share of the sky, sun */
uniform sampler2D water_map;  /* depth, slopes, sun */
uniform sampler2D light_map;  /* caustics */
uniform sampler2D wet_map;
uniform sampler2D noise_map; /* noise, its slopes, lace */
uniform sampler2D paint_map;
uniform vec3 absorption, ground_color, rock_color, grass_color, tile_color, grout_color;
uniform float span, cell, base, ground_high, caustics, wet_darkening, sheen, wetness;
uniform float paint_per_m, grain, rough, rock_edge, grass_height, tile, grout;
struct material {
    vec3 color, normal;
    float gloss, porous;
};
/* A pattern of 256 texels a period, as pixels so wide show it. */
float level_for(float wide, float period)
{
    return log2(max(256.0 * wide / period, 1.0));
}
vec4 noise_at(vec2 xz, float period, float wide)
{
    return textureLod(noise_map, xz / period, level_for(wide, period));
}
float resolved(float wide, float period)
{
    float k = 14.0 * wide / period;
    return 1.0 / (1.0 + k * k);
}
#if TILES
/* Share of lines in a window: the mean of a square wave. */
vec2 line_share(vec2 x, float wide)
{
    vec2 a = (x - 0.5 * wide) / tile, b = (x + 0.5 * wide) / tile, fa = floor(a), fb = floor(b);
    float part = grout / tile;
    return clamp(((fb - fa) * part + min(b - fb, part) - min(a - fa, part)) * tile / wide, 0.0, 1.0);
}
material tiles_at(vec3 p, vec3 normal, float wide)
{
    vec3 s = abs(normal);
    float y = p.y - base;
    vec2 at = vec2(s.x > s.y && s.x > s.z ? p.z : p.x, s.y >= s.x && s.y >= s.z ? p.z : y);
    float window = clamp(1.6 * wide, 1e-4 * tile, 64.0 * tile);
    vec2 gap = line_share(at, window), number = floor(at / tile);
    float near = 1.0 - smoothstep(0.25, 1.0, window / tile);
    float chance = fract(sin(dot(number, vec2(12.9898, 78.233))) * 43758.547);
    float shade = 1.0 + near * 0.16 * (chance - 0.5) + 0.03 * noise_at(at, grain, wide).r;
    return material(mix(tile_color * shade, grout_color, gap.x + gap.y - gap.x * gap.y), normal, 1.0, 0.0);
}
#endif
material material_at(vec3 p, vec2 slope, float wide)
{
#if TILES
    return tiles_at(p, normalize(vec3(-slope.x, 1.0, -slope.y)), wide);
#else
    float small = 0.071 * grain, keep = resolved(wide, small), some = resolved(wide, grain);
    vec4 broad = noise_at(p.xz, grain, wide);
    vec4 bits = noise_at(0.83 * p.xz + vec2(0.56, -0.56) * p.zx, small, wide);
    float steep = length(slope);
    float rock = smoothstep(0.8 * rock_edge, 1.25 * rock_edge, steep * (1.0 + 0.25 * broad.r));
    float rise = p.y - grass_height + 0.012 * span * broad.r, soft = 0.012 * span;
    float grass = smoothstep(-soft, soft, rise) * (1.0 - smoothstep(0.5 * rock_edge, 0.9 * rock_edge, steep));
#if PAINTED
    vec3 color = textureLod(paint_map, plan_at(p.xz), max(log2(wide * paint_per_m) - 0.6, 0.0)).rgb *
                 (1.0 + rough * (0.15 * some * broad.r + 0.16 * keep * bits.r));
#else
    vec3 color = ground_color * (1.0 + rough * (0.15 * some * broad.r + 0.16 * keep * bits.r));
    color = mix(color, rock_color * (1.0 + 0.30 * some * broad.r + 0.25 * keep * bits.r), rock);
    color = mix(color, grass_color * (1.0 + 0.25 * some * broad.r + 0.35 * keep * bits.r), grass);
#endif
    vec2 bump = rough * (1.0 + 2.5 * rock + 2.0 * grass) * 0.0016 * (keep * bits.gb + some * broad.gb);
    return material(color, normalize(vec3(-slope.x - bump.x, 1.0, -slope.y - bump.y)), 1.0 - 0.7 * grass,
                    1.0);
#endif
}
/* Kass & Miller 1990: wetness darkens the ground. */
vec3 wet_down(material m, float wet, float depth)
{
    float less = 1.0 - 0.5 * clamp(depth / (6.0 * cell), 0.0, 1.0);
    return m.color * (1.0 - wet_darkening * m.porous * wet * less);
}
float caustic(vec2 xz)
{
    return mix(1.0, textureLod(light_map, plan_at(xz), 0.0).r, caustics);
}
/* Sun and sky on the ground under the open sky. */
vec3 dry_light(vec3 p, material m, float open, float lit)
{
    float light = lit * max(dot(m.normal, sun), 0.0) * caustic(p.xz);
    return m.color * (ambient_at(m.normal) * open + sun_color * light);
}
/* Under water: less enters, and the beam is narrower (Snell). */
vec3 sunk_light(vec3 p, material m, float open, float lit, float water)
{
    float c = max(sun.y, 0.02), below = sqrt(1.0 - (1.0 - c * c) / (ratio * ratio));
    float blend = clamp(water / (0.5 * cell), 0.0, 1.0);
    vec3 towards = normalize(mix(sun, vec3(sun.x / ratio, below, sun.z / ratio), blend));
    float through = mix(1.0, (1.0 - fresnel(c, ratio)) * c / below, blend);
    float direct = lit * through * max(dot(m.normal, towards), 0.0) * caustic(p.xz);
    return m.color * (sun_color * direct * exp(-absorption * (water / below)) +
                      ambient_at(m.normal) * open * exp(-absorption * (1.2 * water)));
}
