/* Light of sun and sky. */
#include "view/glsl/include/film.glsl"
uniform vec3 sun, sun_color, ambient0, ambient1, ambient2, ambient3;
/* Directions folded onto a square, as und_sky_fold does it. */
vec2 fold(vec3 d)
{
    vec2 p = d.xz / (abs(d.x) + abs(d.y) + abs(d.z));
    vec2 q = (1.0 - abs(p.yx)) * vec2(p.x < 0.0 ? -1.0 : 1.0, p.y < 0.0 ? -1.0 : 1.0);
    return 0.5 + 0.5 * (d.y < 0.0 ? q : p);
}
vec3 ambient_at(vec3 n)
{
    return max(ambient0 + ambient1 * n.x + ambient2 * n.y + ambient3 * n.z, vec3(0.0));
}
