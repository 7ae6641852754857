#include "stage/optics.glsl"
uniform sampler2D bed_map, water_map;
uniform ivec2 grid;
uniform vec3 sun;
uniform float ratio, thin, margin;
out vec2 before;
/* Kass & Miller 1990, "Rendering with caustic shading": from A, where light lands through flat water, back to
 * where it went in, bent there by the true normal, to where it lands on a flat bottom. */
void main()
{
    vec2 at = vec2(gl_VertexID % grid.x, gl_VertexID / grid.x) / vec2(grid - 1);
    vec2 a = at * (1.0 + 2.0 * margin) - margin, b = a;
    float bed = textureLod(bed_map, fine_at(a), 0.0).r, depth = textureLod(water_map, fine_at(a), 0.0).r;
    float down = und_bent_cosine(sun.y, ratio);
    vec2 flat_way = -sun.xz / (ratio * down);
    vec2 entry = a - flat_way * max(depth, 0.0) * plan.zw;
    vec4 w = textureLod(water_map, fine_at(entry), 0.0);
    float level = textureLod(bed_map, fine_at(entry), 0.0).r + w.x;
    float fade = clamp(w.x / thin, 0.0, 1.0);
    vec3 bent = refract(-sun, normalize(vec3(-fade * w.y, 1.0, -fade * w.z)), 1.0 / ratio);
    float fall = mix(depth, max(level - bed, 0.0), fade) / max(-bent.y, 0.05);
    if (depth > 0.0 && bent.y < -0.05)
        b = entry + bent.xz * fall * plan.zw;
    before = a;
    gl_Position = vec4(2.0 * b - 1.0, 0.0, 1.0);
}
