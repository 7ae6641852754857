in vec3 point, normal;
in vec4 tint;
out vec4 color;
uniform float glass;
void main()
{
    vec3 d = normalize(point - eye), n = normalize(normal);
    if (dot(n, d) > 0.0)
        n = -n;
    float facing = clamp(-dot(d, n), UND_LEAST_THROUGH, 1.0), mirror = und_fresnelf(facing, UND_GLASS_INDEX);
    vec3 up = reflect(d, n);
    if (glass > 0.5) { /* seen through; what it mirrors and a little of its own */
        vec3 light = ambient_at(n) + 0.5 * sun_color * max(dot(n, sun), 0.0);
        color = vec4(mirror * sky_at(up, 2.0) + 0.06 * light, mirror + 0.1);
        return;
    }
    vec3 light = ambient_at(n);
    float direct = max(dot(n, sun), 0.0);
    if (direct > 0.0)
        light += sun_color * direct * sun_at(point + 0.004 * span * n);
    light *= mix(1.0, 0.55, smoothstep(0.35, 0.0, (point.y - floor_height) / span) * (0.5 - 0.5 * n.y));
    vec3 own = tint.rgb * light;
    if (tint.a > 0.9)
        own = mix(tint.rgb, vec3(1.0), und_schlick(facing)) * beyond(point, up, 0.05);
    else if (tint.a > 0.0)
        own = mix(own, sky_at(up, 3.0), tint.a * mirror);
    color = vec4(own, 1.0);
}
