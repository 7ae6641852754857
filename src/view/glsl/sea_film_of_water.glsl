/* A film that mirrors the sky, most where it is seen along, with rims that gather light. */
in vec3 place, facing;
in float at_rim;
out vec4 color;
void main()
{
    vec3 dir = looking_at(place), n = normalize(facing);
    n = dot(n, dir) > 0.0 ? -n : n;
    vec3 up = reflect(dir, n);
    float one = und_fresnelf(-dot(dir, n), ratio), both_sides = und_both_faces(one);
    float edge = smoothstep(0.35, 1.0, at_rim);
    vec3 light = sky_at(up) + sun_color * min(4.0 * pow(max(dot(up, sun), 0.0), 120.0), 6.0);
    light = mix(light, ambient_at(n) * 0.9 + sun_color * 0.35, edge);
    color = vec4(shown(light), clamp(0.06 + both_sides + 0.55 * edge, 0.0, 0.95));
}
