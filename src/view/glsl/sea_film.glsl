/* From light to what pixels hold. */
/* The preview's film (Narkowicz 2015) and the sRGB curve, with half a step of noise against bands. */
vec3 shown(vec3 c)
{
    c *= gain;
    vec3 dyes = max(mix(c, vec3((c.r + c.g + c.b) / 3.0), -0.2), 0.0) * 0.55;
    dyes = dyes * (2.51 * dyes + 0.03) / (dyes * (2.43 * dyes + 0.59) + 0.14);
    c = clamp(filmic > 0.5 ? dyes : c, 0.0, 1.0);
    c = mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, vec3(greaterThan(c, vec3(0.0031308))));
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    return c + (noise - 0.5) / 255.0;
}
