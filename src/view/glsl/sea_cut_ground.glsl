void main()
{
    vec3 place = place_here();
    vec3 side_normal = side_here();
    vec2 at = vec2(abs(side_normal.x) > 0.5 ? place.z : place.x, place.y);
    float wide = pixel * (flat_view > 0.5 ? 1.0 : distance(place, eye));
    float bend = noise_at(at, 0.5 * span, wide).r,
          bits = noise_at(at * vec2(5.0, 7.0), 0.5 * span, 6.0 * wide).r;
    float below = textureLod(bed_map, fine_at(plan_at(place.xz)), 0.0).r - place.y,
          thick = UND_EARTH_THICK * span;
    vec3 dir = looking_at(place);
    float away = flat_view > 0.5 ? 1.0 : distance(place, eye);
#if TILES
    vec3 earth = vec3(UND_CONCRETE_R, UND_CONCRETE_G, UND_CONCRETE_B) * und_concrete_shade(bits, bend);
    earth = mix(earth, tile_color, und_tiles_on_top(below, tile, away * pixel));
#else
    vec3 earth = mix(ground_color, rock_color, und_earth_rock(below, thick, bend));
    earth = mix(ground_color, earth, und_earth_under(below, thick));
    earth *= und_earth_shade(below, span, bits);
#endif
    vec3 light = ambient_at(side_normal) + sun_color * und_cut_sun(dot(side_normal, sun));
    light *= side_normal.y < -0.5 ? 0.4 : 1.0;
    color = vec4(shown(hazy(earth * light, dir, away)), 1.0);
}
