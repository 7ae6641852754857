/* Cells.  `place` from -1 to 1 over the viewport; g counts cells from the low corner. */
in vec2 place;
out vec4 color;
uniform vec2 middle, reach; /* cells */
uniform vec2 pixel;         /* cells */
uniform vec2 count;
uniform sampler2D cells, fields, fill;
uniform int field;  /* 0: plain */
uniform vec2 range; /* of colours: scale and offset */
uniform int has_fill, show_cells;
uniform float grid, line, seconds;
/* Texels with edges two pixels wide. */
vec4 kind_at(vec2 g)
{
    vec2 seam = floor(g + 0.5);
    return textureLod(cells, (seam + clamp((g - seam) / (2.2 * pixel), -0.5, 0.5)) / count, 0.0);
}
vec3 liquid_at(vec2 g)
{
    vec4 f = textureLod(fields, g / count, 0.0);
    if (field == 0)
        return mix(vec3(0.69, 0.87, 0.965), vec3(0.36, 0.645, 0.875), smoothstep(0.0, 1.0, f.x));
    return map_color(range.x * (field == 1 ? f.x : field == 2 ? f.y : f.z) + range.y);
}
void main()
{
    vec2 g = middle + place * reach;
    vec2 inside = clamp(min(g, count - g) / pixel + 0.5, 0.0, 1.0);
    float domain = inside.x * inside.y;
    float share = textureLod(fill, g / count, 0.0).r;
    float rise = max(fwidth(share), 1.0e-4);
    vec2 in_from = min(g, count - g) / pixel;
    if (min(in_from.x, in_from.y) < -2.0) {
        color = vec4(0.845, 0.86, 0.88, 1.0);
        return;
    }
    vec3 air = mix(vec3(0.995, 0.995, 0.99), vec3(0.945, 0.96, 0.975), clamp(g.y / count.y, 0.0, 1.0));
    vec4 kind = kind_at(g);
    float wet = has_fill != 0 ? clamp((share - 0.5) / rise + 0.5, 0.0, 1.0) : smoothstep(0.2, 0.3, kind.a);
    float rim = has_fill != 0 ? line * clamp(1.4 - abs(share - 0.5) / rise, 0.0, 1.0) : 0.0;
    vec3 c = air;
    if (wet > 0.0)
        c = mix(c, liquid_at(g), wet);
    c = mix(c, vec3(0.10, 0.36, 0.62), 0.85 * rim);
    if (show_cells != 0) {
        vec3 tint = mix(vec3(1.0, 0.62, 0.22), vec3(0.16, 0.38, 0.72), smoothstep(0.6, 0.9, kind.a));
        c = mix(c, tint, 0.34 * smoothstep(0.2, 0.3, kind.a));
    }
    float solid = clamp(2.2 * (kind.r - 0.5) + 0.5, 0.0, 1.0);
    if (solid > 0.0) {
        vec3 stone = mix(vec3(0.735, 0.73, 0.715), vec3(0.80, 0.685, 0.545), kind.g);
        vec2 metric = g / pixel;
        float stripe = smoothstep(-0.25, 0.25, sin(0.35 * (metric.x + metric.y) - 6.0 * seconds));
        vec3 flow = mix(vec3(0.13, 0.60, 0.66), vec3(0.30, 0.75, 0.78), stripe);
        c = mix(c, mix(stone, flow, kind.b), solid);
    }
    float edge = 1.0 - abs(2.0 * kind.r - 1.0);
    c = mix(c, vec3(0.32, 0.315, 0.30), 0.9 * smoothstep(0.15, 0.75, edge));
    vec2 lines = clamp(1.0 - abs(g - floor(g + 0.5)) / pixel, 0.0, 1.0);
    c = mix(c, vec3(0.25, 0.30, 0.38), grid * max(lines.x, lines.y));
    float frame = clamp(1.5 - abs(min(in_from.x, in_from.y)), 0.0, 1.0);
    c = mix(vec3(0.845, 0.86, 0.88), c, domain);
    c = mix(c, vec3(0.22, 0.25, 0.30), frame);
    color = vec4(c, 1.0);
}
