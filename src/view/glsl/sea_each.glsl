/* Begins the shaders that colour pixels: where a pixel's thing is. */
uniform sampler2D kind_map, depth_map;
uniform mat4 inverse_both;
uniform vec2 picture_size;
out vec4 color;
vec3 place_here()
{
    vec2 at = gl_FragCoord.xy / picture_size;
    vec4 p = inverse_both * (2.0 * vec4(at, texelFetch(depth_map, ivec2(gl_FragCoord.xy), 0).r, 1.0) - 1.0);
    return p.xyz / p.w;
}
vec3 side_here()
{
    int kind = int(texelFetch(kind_map, ivec2(gl_FragCoord.xy), 0).r * 255.0 + 0.5);
    float side = (kind & 1) == 0 ? -1.0 : 1.0;
    vec3 n = kind < 4 ? vec3(side, 0.0, 0.0) : vec3(0.0, 0.0, side);
    return kind == 7 ? vec3(0.0, -1.0, 0.0) : n;
}
