layout(location = 0) in vec4 grain; /* place and radius, m */
layout(location = 1) in vec4 grain_color;
out vec3 tint;
uniform mat4 both;
uniform float high, least, size; /* pixels of a metre at a distance of one; pixels; a factor */
uniform float exact, exposure, film;
/* The light that und_film makes into a colour: colours that say something are seen as the legend has them. */
vec3 unfilm(vec3 t)
{
    t = min(t, vec3(0.97));
    vec3 a = 2.51 - 2.43 * t, b = 0.03 - 0.59 * t, x = (sqrt(b * b + 0.56 * a * t) - b) / (2.0 * a) / 0.55;
    return max((x + 0.2 * (x.r + x.g + x.b) / 3.0) / 1.2, vec3(0.0));
}
void main()
{
    gl_Position = both * vec4(grain.xyz, 1.0);
    gl_PointSize = clamp(2.0 * size * grain.w * high / max(gl_Position.w, 1e-6), least, 63.0);
    vec3 c = grain_color.rgb;
    tint = mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(vec3(0.04045), c));
    tint = (exact > 0.5 && film > 0.5 ? unfilm(tint) : tint) / (exact > 0.5 ? exposure : 1.0);
}
