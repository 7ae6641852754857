/* Sky, sun, film. */
#include "view/glsl/include/light.glsl"
uniform vec3 eye, forward;
uniform float flat_view, gain, filmic, haze, pixel, ratio;
uniform sampler2D sky_map;
vec3 sky_at(vec3 d)
{
    float n = float(SKY_SIZE);
    return textureLod(sky_map, fold(d) * ((n - 1.0) / n) + 0.5 / n, 0.0).rgb;
}
vec3 looking_at(vec3 p)
{
    return flat_view > 0.5 ? forward : normalize(p - eye);
}
vec3 hazy(vec3 color, vec3 dir, float away)
{
#if HAZE
    return mix(sky_at(normalize(vec3(dir.x, UND_HORIZON, dir.z))), color, exp(-away * haze));
#else
    return color;
#endif
}
