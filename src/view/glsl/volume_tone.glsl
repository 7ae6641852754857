/* The filmic curve of und_film, then sRGB. */
#include "view/glsl/include/film.glsl"
in vec2 place;
out vec4 color;
uniform sampler2D picture, picture_depth, solid_depth;
uniform mat4 inverse;
uniform vec3 eye, absorption, fog;
uniform float exposure, under, film;
void main()
{
    vec2 uv = 0.5 * place + 0.5;
    vec3 c = texture(picture, uv).rgb;
    float z = texture(picture_depth, uv).r;
    if (under > 0.5) {
        vec4 q = inverse * vec4(place, 2.0 * z - 1.0, 1.0);
        vec3 left = beer(absorption, distance(q.xyz / q.w, eye));
        c = c * left + fog * (1.0 - left);
    }
    c *= exposure;
    color = vec4(as_srgb(clamp(film > 0.5 ? on_film(c) : c, 0.0, 1.0)), 1.0);
    gl_FragDepth = z;
}
