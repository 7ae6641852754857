uniform sampler2D picture, picture_depth;
in vec2 place;
out vec4 color;
void main()
{
    vec2 at = 0.5 + 0.5 * place;
    color = textureLod(picture, at, 0.0);
    gl_FragDepth = textureLod(picture_depth, at, 0.0).r;
}
