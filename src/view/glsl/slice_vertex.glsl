/* Corners of patches from their number alone; heights lift them where there are any. */
uniform mat4 both;
uniform vec3 corner, along, across;
uniform ivec2 patches;
uniform float heights, lift, stretch;
uniform sampler2D plane;
out vec2 place;
float height_at(vec2 where)
{
    ivec2 size = textureSize(plane, 0);
    vec2 at = clamp(where * vec2(size) - 0.5, vec2(0.0), vec2(size - 1));
    ivec2 a = ivec2(at), b = min(a + 1, size - 1);
    vec2 f = at - vec2(a);
    float low = mix(texelFetch(plane, a, 0).a, texelFetch(plane, ivec2(b.x, a.y), 0).a, f.x);
    float high = mix(texelFetch(plane, ivec2(a.x, b.y), 0).a, texelFetch(plane, b, 0).a, f.x);
    return mix(low, high, f.y);
}
void main()
{
    int patch_number = gl_VertexID / 6, k = gl_VertexID % 6;
    ivec2 at = ivec2(patch_number % patches.x, patch_number / patches.x);
    at += ivec2(k == 1 || k == 3 || k == 4 ? 1 : 0, k == 2 || k == 4 || k == 5 ? 1 : 0);
    place = vec2(at) / vec2(patches);
    vec3 p = corner + place.x * along + place.y * across;
    if (heights > 0.5)
        p.y = height_at(place);
    p.y = p.y * stretch + heights * lift;
    gl_Position = both * vec4(p, 1.0);
}
