/* Light on bodies; fast pictures have it at corners, where software draws triangles of few pixels. */
void thing_light(vec3 at, vec3 n, vec3 base, out vec3 even, out vec3 direct)
{
    vec3 dir = looking_at(at), up;
    n = dot(n, dir) > 0.0 ? -n : n;
    up = reflect(dir, n);
    float gloss = und_coat(-dot(dir, n), up.y) * (1.0 - under_water);
    float shine =
        UND_COAT_BRIGHT * pow(max(dot(normalize(sun - dir), n), 0.0), UND_COAT_SHARP) * (1.0 - under_water);
    even = base * ambient_at(n) * (1.0 - gloss) + sky_at(up) * gloss;
    direct = sun_color * (base * max(dot(n, sun), 0.0) * (1.0 - gloss) + shine);
}
