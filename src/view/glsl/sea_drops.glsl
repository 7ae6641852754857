uniform float rain;
in vec2 at;
in vec3 place;
in float far_end, round_half, share, chance;
out vec4 color;
void main()
{
    float part = clamp(at.x, 0.0, far_end);
    vec2 off = vec2(at.x - part, at.y) / round_half;
    float edge = 0.5 / round_half, cover = 1.0 - smoothstep(1.0 - edge, 1.0 + edge, length(off));
    vec3 dir = looking_at(place), light;
    if (rain > 0.5) {
        cover *= 1.0 - 0.6 * part / max(far_end, 1.0);
        light = ambient0 * 1.3 + sun_color * 0.22;
    } else {
        light = ambient_at(vec3(0.0, 1.0, 0.0)) * 0.8 + sun_color * und_drop_sun(dot(dir, sun), chance);
        /* One large enough to be looked into: sky on it, sky through it. */
        vec3 side = normalize(cross(dir, vec3(0.0, 1.0, 0.001))), over = cross(side, dir);
        vec3 n = normalize(side * off.x + over * off.y - dir * sqrt(max(1.0 - dot(off, off), 0.02)));
        vec3 up = reflect(dir, n);
        vec3 clear = mix(sky_at(refract(dir, n, 0.75)), sky_at(up), und_fresnelf(-dot(dir, n), ratio));
        clear += sun_color * min(2.5 * pow(max(dot(up, sun), 0.0), 60.0), 6.0);
        light = mix(light, clear, smoothstep(1.5, 4.0, round_half));
    }
    color = vec4(shown(light), pow(share, 0.6) * cover); /* blended as pixels are, not as light */
}
