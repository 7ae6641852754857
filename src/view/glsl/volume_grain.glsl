/* A ball in the light of sky and sun; a drop is clear: it mirrors the sky, has the sun on it, and in it what
 * is above upside down. */
in vec3 tint;
out vec4 color;
uniform vec3 right, up, forward;
uniform float alpha, drop, exact;
void main()
{
    vec2 q = 2.0 * gl_PointCoord - 1.0;
    float r = dot(q, q);
    if (r > 1.0)
        discard;
    vec3 n = q.x * right - q.y * up - sqrt(1.0 - r) * forward;
    vec3 light = ambient_at(n) + sun_color * max(dot(n, sun), 0.0);
    light = exact > 0.5 ? vec3(1.0 - 0.6 * r * r) : light; /* a rim, to tell them apart */
    color = vec4(tint * light * alpha, alpha);
    if (drop > 0.5) {
        float mirror = und_fresnelf(max(-dot(forward, n), 0.05), UND_WATER_INDEX),
              glint = max(dot(reflect(forward, n), sun), 0.0);
        vec3 in_it = sky_at(normalize(refract(forward, n, 0.75) - 0.9 * n), 2.0);
        vec3 c = mix(in_it, sky_at(reflect(forward, n), 1.0), mirror) + 3.0 * sun_color * pow(glint, 60.0);
        float a = alpha * mix(0.55, 1.0, mirror);
        color = vec4(c * a, a);
    }
}
