/* The filmic curve of und_film, then sRGB. */
in vec2 place;
out vec4 color;
uniform sampler2D picture, picture_depth, solid_depth;
uniform mat4 inverse;
uniform vec3 eye, absorption, fog;
uniform float exposure, under, film;
vec3 curve(vec3 x)
{
    x = max(x, vec3(0.0)) * 0.55;
    return clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
}
void main()
{
    vec2 uv = 0.5 * place + 0.5;
    vec3 c = texture(picture, uv).rgb;
    float z = texture(picture_depth, uv).r;
    if (under > 0.5) {
        vec4 q = inverse * vec4(place, 2.0 * z - 1.0, 1.0);
        vec3 left = exp(-absorption * distance(q.xyz / q.w, eye));
        c = c * left + fog * (1.0 - left);
    }
    c *= exposure;
    if (film > 0.5) {
        c = mix(c, vec3((c.r + c.g + c.b) / 3.0), -0.2);
        c = curve(c);
    }
    c = clamp(c, 0.0, 1.0);
    c = mix(12.92 * c, 1.055 * pow(max(c, vec3(1e-6)), vec3(1.0 / 2.4)) - 0.055, step(vec3(0.0031308), c));
    color = vec4(c, 1.0);
    gl_FragDepth = z;
}
