/* Layers of earth, bent and grained by noise. */
void main()
{
    vec3 place = place_here();
    vec3 side_normal = side_here();
    vec2 at = vec2(abs(side_normal.x) > 0.5 ? place.z : place.x, place.y);
    float wide = pixel * (flat_view > 0.5 ? 1.0 : distance(place, eye));
    float bend = noise_at(at, 0.5 * span, wide).r,
          bits = noise_at(at * vec2(5.0, 7.0), 0.5 * span, 6.0 * wide).r;
    float below = textureLod(bed_map, fine_at(plan_at(place.xz)), 0.0).r - place.y, thick = 0.02 * span;
    vec3 dir = looking_at(place);
    float away = flat_view > 0.5 ? 1.0 : distance(place, eye);
#if TILES
    vec3 earth = vec3(0.42, 0.41, 0.39) * (0.9 + 0.1 * bits + 0.06 * bend);
    earth = mix(earth, tile_color, 1.0 - smoothstep(0.0, 2.0 * away * pixel, below - 0.25 * tile));
#else
    float layer = 0.5 + 0.5 * sin((below + 0.6 * thick * bend) / thick * 1.7);
    vec3 earth = mix(ground_color, rock_color, 0.45 + 0.3 * layer);
    earth = mix(ground_color, earth, smoothstep(0.0, 0.7 * thick, below));
    earth *= (0.75 + 0.1 * bits) * (1.0 - 0.3 * smoothstep(0.0, 0.2 * span, below));
#endif
    vec3 light = ambient_at(side_normal) + sun_color * (0.22 + 0.35 * max(dot(side_normal, sun), 0.0));
    light *= side_normal.y < -0.5 ? 0.4 : 1.0;
    color = vec4(shown(hazy(earth * light, dir, away)), 1.0);
}
