#ifdef GL_ES
precision highp sampler2DShadow;
#endif
uniform sampler2D sky;
uniform float sky_size;
uniform vec3 eye, sun, sun_color, ambient0, ambient1, ambient2, ambient3;
uniform sampler2DShadow sun_depth; /* what is solid, as the sun sees it */
uniform sampler2D sun_skin;        /* metres of liquid on the sun's way; where it begins */
uniform mat4 sun_matrix;
uniform float sun_texel, shadows;
uniform vec3 absorption;
uniform float opaque; /* 1: light does not go through the liquid */
vec2 fold(vec3 d)
{
    d /= abs(d.x) + abs(d.y) + abs(d.z);
    vec2 p = d.xz;
    if (d.y < 0.0)
        p = (1.0 - abs(d.zx)) * vec2(d.x < 0.0 ? -1.0 : 1.0, d.z < 0.0 ? -1.0 : 1.0);
    return (0.5 * p + 0.5) * (1.0 - 1.0 / sky_size) + 0.5 / sky_size;
}
vec3 sky_at(vec3 d, float level)
{
    return textureLod(sky, fold(d), level).rgb;
}
vec3 ambient_at(vec3 n)
{
    return max(ambient0 + ambient1 * n.x + ambient2 * n.y + ambient3 * n.z, vec3(0.0));
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
    vec3 through = 0.85 * skin.g * exp(-absorption * max(way, 0.0)) * (1.0 - opaque);
    return lit * mix(vec3(1.0), through, behind);
}
/* Share of unpolarised light that is mirrored: the Fresnel equations. */
float fresnel(float c, float ratio)
{
    float s2 = (1.0 - c * c) / (ratio * ratio);
    if (s2 >= 1.0)
        return 1.0;
    float t = sqrt(1.0 - s2), rs = (c - ratio * t) / (c + ratio * t), rp = (ratio * c - t) / (ratio * c + t);
    return 0.5 * (rs * rs + rp * rp);
}
