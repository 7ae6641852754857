/* A square at the depth of a pass. */
uniform float pass;
void main()
{
    vec2 at = vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, gl_VertexID < 2 ? -1.0 : 1.0);
    gl_Position = vec4(at, 2.0 * pass / 8.0 - 1.0, 1.0);
}
