/* From light to what pixels hold. */
/* The film and the sRGB curve, with half a step of noise against bands. */
vec3 shown(vec3 c)
{
    c *= gain;
    c = as_srgb(clamp(filmic > 0.5 ? on_film(c) : c, 0.0, 1.0));
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    return c + (noise - 0.5) / 255.0;
}
