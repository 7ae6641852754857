/* Where the surface was found, its light. */
in vec2 place;
out vec4 color;
uniform sampler2D surface, surface_depth, way;
void main()
{
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 found = texelFetch(surface, at, 0);
    if (found.w < 0.0)
        discard;
    float z = texelFetch(surface_depth, at, 0).r;
    vec2 size = vec2(textureSize(surface, 0));
    vec4 q = inverse * vec4(vec3(gl_FragCoord.xy / size, z) * 2.0 - 1.0, 1.0);
    vec3 p = q.xyz / q.w, n = normalize(found.xyz);
    vec4 a = inverse * vec4(gl_FragCoord.xy / size * 2.0 - 1.0, -1.0, 1.0);
    vec3 d = normalize(p - (flat_lens > 0.5 ? a.xyz / a.w : eye));
    float facing = -dot(d, n);
    if (facing < UND_LEAST_FACING) /* smooth normals turn away at the outline */
        n = normalize(n - d * (UND_LEAST_FACING - facing));
    vec3 more = texelFetch(way, at, 0).rgb;
    color = vec4(water(p, d, n, max(more.r, 0.0), more), 1.0);
    gl_FragDepth = z;
}
