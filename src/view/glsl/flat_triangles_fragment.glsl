in vec3 painted;
uniform vec4 ink; /* a: how much of it */
out vec4 color;
void main()
{
    color = vec4(mix(painted, ink.rgb, ink.a), 1.0);
}
