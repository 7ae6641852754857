/* Which of the shading passes a pixel is for, as a depth: the test for equal ones then leaves all others out
 * before they are shaded. */
uniform sampler2D kind_map, depth_map, bed_map, water_map;
uniform mat4 inverse_both;
uniform vec2 picture_size;
uniform float hidden_water;
out vec4 color;
void main()
{
    ivec2 at = ivec2(gl_FragCoord.xy);
    int kind = int(texelFetch(kind_map, at, 0).r * 255.0 + 0.5);
    vec4 p = vec4(2.0 * gl_FragCoord.xy / picture_size, 2.0 * texelFetch(depth_map, at, 0).r, 2.0) - 1.0;
    p = inverse_both * p;
    vec3 place = p.xyz / p.w;
    vec2 q = fine_at(plan_at(place.xz));
    bool wet = textureLod(water_map, q, 0.0).r > 0.0 && hidden_water < 0.5;
    bool earth = place.y <= textureLod(bed_map, q, 0.0).r || hidden_water > 0.5;
    float pass = kind == 0 ? 0.0 : kind == 1 ? (wet ? 2.0 : 1.0) : kind == 7 || earth ? 3.0 : 4.0;
    gl_FragDepth = (kind == 6 ? 7.0 : pass) / 8.0;
    color = vec4(0.0);
}
