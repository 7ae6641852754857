/* Which kind of thing a pixel shows. */
uniform float kind;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 shown_kind;
void main()
{
    color = vec4(0.0);
    shown_kind = vec4(kind / 255.0);
}
