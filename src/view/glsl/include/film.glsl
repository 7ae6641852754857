/* Light through what absorbs it, onto film, into pixels. */
#include "stage/optics.glsl"
#define SRGB_FUNCTION
#define SRGB_REAL float
#define SRGB_POW pow
#include "io/srgb.glsl"
vec3 beer(vec3 absorption, float way)
{
    return vec3(und_beer(absorption.r, way), und_beer(absorption.g, way), und_beer(absorption.b, way));
}
vec3 on_film(vec3 c)
{
    float mean = (c.r + c.g + c.b) / 3.0;
    return vec3(und_film_part(c.r, mean), und_film_part(c.g, mean), und_film_part(c.b, mean));
}
vec3 as_srgb(vec3 c) /* 0 to 1 */
{
    return vec3(encode_srgb(c.r), encode_srgb(c.g), encode_srgb(c.b));
}
