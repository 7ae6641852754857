in vec2 place;
out vec4 color;
uniform sampler2D picture;
void main()
{
    color = texelFetch(picture, ivec2(gl_FragCoord.xy), 0);
}
