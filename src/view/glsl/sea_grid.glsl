uniform sampler2D bed_map, water_map;
uniform mat4 both;
uniform ivec2 grid;  /* vertices */
uniform vec4 window; /* of the plan: low corner and sides */
uniform float surface;
void main()
{
    vec2 at = vec2(gl_VertexID % grid.x, gl_VertexID / grid.x) / vec2(grid - 1);
    vec2 p = window.xy + window.zw * at;
    float bed = textureLod(bed_map, fine_at(p), 0.0).r;
    float depth = max(textureLod(water_map, fine_at(p), 0.0).r, 0.0);
    gl_Position = both * vec4(plan.x + p.x / plan.z, bed + surface * depth, plan.y + p.y / plan.w, 1.0);
}
