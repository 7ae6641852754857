uniform sampler2D picture;
in vec2 place;
out vec4 color;
float luma(vec3 c)
{
    return dot(c, vec3(0.3, 0.6, 0.1));
}
/* Along an edge the picture is blended: as far as four neighbours say where it runs (after Lottes 2009). */
void main()
{
    vec2 at = 0.5 + 0.5 * place, texel = 1.0 / vec2(textureSize(picture, 0));
    vec3 here = textureLod(picture, at, 0.0).rgb;
    float a = luma(textureLod(picture, at + texel * vec2(-0.5, -0.5), 0.0).rgb);
    float b = luma(textureLod(picture, at + texel * vec2(0.5, -0.5), 0.0).rgb);
    float c = luma(textureLod(picture, at + texel * vec2(-0.5, 0.5), 0.0).rgb);
    float d = luma(textureLod(picture, at + texel * vec2(0.5, 0.5), 0.0).rgb);
    vec2 along = vec2(c + d - a - b, a + c - b - d);
    float least = 1.0 / (min(abs(along.x), abs(along.y)) + 0.02 * (a + b + c + d) + 0.008);
    along = clamp(along * least, -4.0, 4.0) * texel;
    vec3 near = 0.5 * (textureLod(picture, at - 0.166 * along, 0.0).rgb +
                       textureLod(picture, at + 0.166 * along, 0.0).rgb);
    vec3 wide = 0.5 * near + 0.25 * (textureLod(picture, at - 0.5 * along, 0.0).rgb +
                                     textureLod(picture, at + 0.5 * along, 0.0).rgb);
    float low = min(min(a, b), min(c, d)), high = max(max(a, b), max(c, d)), l = luma(wide);
    color = vec4(high - low < 0.03 ? here : l < low || l > high ? near : wide, 1.0);
}
