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
#if TILES
material tiles_at(vec3 p, vec3 normal, float wide)
{
    vec3 s = abs(normal);
    float y = p.y - base;
    vec2 at = vec2(s.x > s.y && s.x > s.z ? p.z : p.x, s.y >= s.x && s.y >= s.z ? p.z : y);
    float window = und_tile_window(wide, tile);
    vec2 gap = vec2(und_line_share(at.x, tile, grout, window), und_line_share(at.y, tile, grout, window)),
         number = floor(at / tile);
    float chance = fract(sin(dot(number, vec2(12.9898, 78.233))) * 43758.547);
    float shade = und_tile_shade(window, tile, chance, noise_at(at, grain, wide).r);
    return material(mix(tile_color * shade, grout_color, gap.x + gap.y - gap.x * gap.y), normal, 1.0, 0.0);
}
#endif
material material_at(vec3 p, vec2 slope, float wide)
{
#if TILES
    return tiles_at(p, normalize(vec3(-slope.x, 1.0, -slope.y)), wide);
#else
    float small = UND_GRAIN_FINE * grain, keep = und_resolved(wide, small), some = und_resolved(wide, grain);
    vec4 broad = noise_at(p.xz, grain, wide);
    vec4 bits = noise_at(UND_GRAIN_COS * p.xz + vec2(UND_GRAIN_SIN, -UND_GRAIN_SIN) * p.zx, small, wide);
    float steep = length(slope);
    float rock = und_rock_share(steep, rock_edge, broad.r);
    float soft = UND_GRASS_SOFT * span, rise = p.y - grass_height + soft * broad.r;
    float grass = und_grass_share(rise, soft, steep, rock_edge);
#if PAINTED
    vec3 color = textureLod(paint_map, plan_at(p.xz), max(log2(wide * paint_per_m) - 0.6, 0.0)).rgb *
                 und_sand_shade(rough, some, broad.r, keep, bits.r);
#else
    vec3 color = ground_color * und_sand_shade(rough, some, broad.r, keep, bits.r);
    color = mix(color, rock_color * und_rock_shade(some, broad.r, keep, bits.r), rock);
    color = mix(color, grass_color * und_grass_shade(some, broad.r, keep, bits.r), grass);
#endif
    float uneven = und_ground_rough(rough, rock, grass);
    vec2 bump = vec2(und_ground_bump(uneven, keep, bits.g, some, broad.g),
                     und_ground_bump(uneven, keep, bits.b, some, broad.b));
    return material(color, normalize(vec3(-slope.x - bump.x, 1.0, -slope.y - bump.y)),
                    und_ground_gloss(grass), 1.0);
#endif
}
vec3 wet_down(material m, float wet, float depth)
{
    return m.color * und_wet_factor(wet_darkening, m.porous, wet, depth, cell);
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
    float c = max(sun.y, UND_LOWEST_SUN), below = und_bent_cosine(c, ratio);
    float blend = und_film_depth(water, cell);
    vec3 towards = normalize(mix(sun, vec3(sun.x / ratio, below, sun.z / ratio), blend));
    float through = mix(1.0, und_beam(c, ratio, below), blend);
    float direct = lit * through * max(dot(m.normal, towards), 0.0) * caustic(p.xz);
    return m.color * (sun_color * direct * beer(absorption, water / below) +
                      ambient_at(m.normal) * open * beer(absorption, UND_SKY_WAY * water));
}
