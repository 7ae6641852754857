uniform mat4 both;
uniform float base;
void main()
{
    vec2 p = vec2((gl_VertexID & 1) == 0 ? 0.0 : 1.0, gl_VertexID < 2 ? 0.0 : 1.0);
    gl_Position = both * vec4(plan.x + p.x / plan.z, base, plan.y + p.y / plan.w, 1.0);
}
