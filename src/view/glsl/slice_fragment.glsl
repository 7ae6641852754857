/* Linear between the middles of cells, over those that have a value. */
in vec2 place;
out vec4 color;
uniform sampler2D plane;
uniform vec2 range;
uniform float liquid_only, line, smooth_cells, opacity;
void main()
{
    ivec2 size = textureSize(plane, 0);
    vec2 at = clamp(place * vec2(size) - 0.5, vec2(0.0), vec2(size - 1));
    ivec2 a = ivec2(at), b = min(a + 1, size - 1);
    vec2 f = at - vec2(a);
    vec4 t00 = texelFetch(plane, a, 0), t10 = texelFetch(plane, ivec2(b.x, a.y), 0);
    vec4 t01 = texelFetch(plane, ivec2(a.x, b.y), 0), t11 = texelFetch(plane, b, 0);
    vec2 sides = mix(mix(t00.gb, t10.gb, f.x), mix(t01.gb, t11.gb, f.x), f.y);
    vec4 values = vec4(t00.r, t10.r, t01.r, t11.r);
    vec4 weights = vec4((1.0 - f.x) * (1.0 - f.y), f.x * (1.0 - f.y), (1.0 - f.x) * f.y, f.x * f.y);
    if (smooth_cells < 0.5)
        weights = vec4(f.x < 0.5 && f.y < 0.5, f.x >= 0.5 && f.y < 0.5, f.x < 0.5 && f.y >= 0.5,
                       f.x >= 0.5 && f.y >= 0.5);
    vec4 there = vec4(greaterThan(values, vec4(-1e37)));
    float sum = dot(weights, there);
    float value = dot(weights * there, max(values, vec4(-1e37))) / max(sum, 1e-6);
    float edge = abs(sides.x) / max(fwidth(sides.x), 1e-6);
    float ink = line * (1.0 - smoothstep(0.7, 1.5, edge));
    bool inside = sides.y < 0.0;
    if (liquid_only > 0.5 && (sides.x > 0.0 || inside) && ink < 0.02)
        discard;
    vec3 c = sum > 0.01 ? map_color((value - range.x) / (range.y - range.x)) : vec3(0.91, 0.35, 0.75);
    if (inside)
        c = vec3(0.36, 0.35, 0.34);
    c = mix(c, vec3(0.04, 0.05, 0.08), ink * 0.9);
    float there_is = liquid_only > 0.5 && sides.x > 0.0 ? ink : opacity;
    color = vec4(c, there_is);
}
