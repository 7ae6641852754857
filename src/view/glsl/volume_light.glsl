#ifdef GL_ES
precision highp sampler2DShadow;
#endif
#include "view/glsl/include/light.glsl"
uniform sampler2D sky;
uniform float sky_size;
uniform vec3 eye;
uniform sampler2DShadow sun_depth; /* what is solid, as the sun sees it */
uniform sampler2D sun_skin;        /* metres of liquid on the sun's way; where it begins */
uniform mat4 sun_matrix;
uniform float sun_texel, shadows;
uniform vec3 absorption;
uniform float opaque; /* 1: light does not go through the liquid */
vec3 sky_at(vec3 d, float level)
{
    return textureLod(sky, fold(d) * (1.0 - 1.0 / sky_size) + 0.5 / sky_size, level).rgb;
}
/* Light of the sun that comes to p, as a share of it. */
vec3 sun_at(vec3 p)
{
    vec3 s = (sun_matrix * vec4(p, 1.0)).xyz;
    if (shadows < 0.5 || any(lessThan(s, vec3(0.002))) || s.x > 0.998 || s.y > 0.998)
        return vec3(1.0);
    float e = 0.75 * sun_texel, z = s.z - 0.0015;
    float lit =
        0.25 *
        (texture(sun_depth, vec3(s.xy + vec2(-e, -e), z)) + texture(sun_depth, vec3(s.xy + vec2(e, -e), z)) +
         texture(sun_depth, vec3(s.xy + vec2(-e, e), z)) + texture(sun_depth, vec3(s.xy + vec2(e, e), z)));
    vec4 skin = texture(sun_skin, s.xy);
    float behind = step(skin.a, min(z, 0.999)), way = skin.r;
    vec3 through = 0.85 * skin.g * beer(absorption, max(way, 0.0)) * (1.0 - opaque);
    return lit * mix(vec3(1.0), through, behind);
}
