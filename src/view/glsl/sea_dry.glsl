void main()
{
    vec3 place = place_here();
    vec2 p = plan_at(place.xz);
    vec4 g = textureLod(ground_map, fine_at(p), 0.0);
    vec3 dir = looking_at(place);
    float away = flat_view > 0.5 ? 1.0 : distance(place, eye);
    float wide = away * pixel / sqrt(max(-dir.y, 0.08));
    material m = material_at(place, g.xy, wide);
    float wet = wetness * clamp(textureLod(wet_map, coarse_at(p), 0.0).r, 0.0, 1.0);
    m.color = wet_down(m, wet, 0.0);
    vec3 light = dry_light(place, m, g.z, g.w * shade_at(place));
    vec3 n = normalize(vec3(0.5 * m.normal.x - 0.5 * g.x, m.normal.y, 0.5 * m.normal.z - 0.5 * g.y));
    float shine = und_wet_sheen(wet, sheen) * m.gloss * und_fresnelf(-dot(dir, n), ratio);
    vec3 up = reflect(dir, n);
    up.y = max(up.y, 0.01);
    light = lined(mix(light, sky_at(up), shine), p, wide);
    color = vec4(shown(hazy(light, dir, away)), 1.0);
}
