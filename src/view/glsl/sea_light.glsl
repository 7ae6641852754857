/* Sky, sun, film. */
uniform vec3 eye, forward, sun, sun_color, ambient0, ambient1, ambient2, ambient3;
uniform float flat_view, gain, filmic, haze, pixel, ratio;
uniform sampler2D sky_map;
vec2 fold(vec3 d)
{
    vec2 p = d.xz / (abs(d.x) + abs(d.y) + abs(d.z));
    vec2 q = (1.0 - abs(p.yx)) * vec2(p.x < 0.0 ? -1.0 : 1.0, p.y < 0.0 ? -1.0 : 1.0);
    return 0.5 + 0.5 * (d.y < 0.0 ? q : p);
}
vec3 sky_at(vec3 d)
{
    float n = float(SKY_SIZE);
    return textureLod(sky_map, fold(d) * ((n - 1.0) / n) + 0.5 / n, 0.0).rgb;
}
vec3 ambient_at(vec3 n)
{
    return max(ambient0 + ambient1 * n.x + ambient2 * n.y + ambient3 * n.z, 0.0);
}
/* Born & Wolf, Principles of Optics, section 1.5.2. */
float fresnel(float cosine, float index)
{
    float c = clamp(cosine, 0.0, 1.0), s2 = (1.0 - c * c) / (index * index);
    float t = sqrt(max(1.0 - s2, 0.0));
    float rs = (c - index * t) / (c + index * t), rp = (index * c - t) / (index * c + t);
    return s2 >= 1.0 ? 1.0 : 0.5 * (rs * rs + rp * rp);
}
vec3 looking_at(vec3 p)
{
    return flat_view > 0.5 ? forward : normalize(p - eye);
}
vec3 hazy(vec3 color, vec3 dir, float away)
{
#if HAZE
    return mix(sky_at(normalize(vec3(dir.x, 0.02, dir.z))), color, exp(-away * haze));
#else
    return color;
#endif
}
