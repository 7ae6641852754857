uniform sampler2D bed_map, water_map;
uniform mat4 both;
uniform int count;
uniform vec4 window; /* of the plan: from, and the way to the end */
uniform float surface, base;
void main()
{
    vec2 p = window.xy + window.zw * (float(gl_VertexID / 2) / float(count - 1));
    float bed = textureLod(bed_map, fine_at(p), 0.0).r;
    float depth = max(textureLod(water_map, fine_at(p), 0.0).r, 0.0);
    float y = (gl_VertexID & 1) == 0 ? base : bed + surface * depth;
    gl_Position = both * vec4(plan.x + p.x / plan.z, y, plan.y + p.y / plan.w, 1.0);
}
