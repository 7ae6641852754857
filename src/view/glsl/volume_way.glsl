/* Metres of it along the line of sight before anything solid: those where the line leaves less those where it
 * enters, counted from the middle so that half floats do for them. */
in vec3 point, normal;
in vec4 tint;
out vec4 way;
uniform sampler2D solid_depth;
uniform mat4 inverse;
uniform vec3 eye;
uniform float middle;
void main()
{
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec2 size = vec2(textureSize(solid_depth, 0));
    vec4 q = inverse * vec4(vec3(gl_FragCoord.xy / size, texelFetch(solid_depth, at, 0).r) * 2.0 - 1.0, 1.0);
    float solid = distance(q.xyz / q.w, eye), here = distance(point, eye);
    way = vec4((gl_FrontFacing ? -1.0 : 1.0) * (min(here, solid) - middle));
}
