/* The same along the sun's rays, `range` metres from the nearest place to the farthest; and where they enter.
 */
in vec3 point, normal;
in vec4 tint;
out vec4 way;
uniform float range;
void main()
{
    float sum = (gl_FrontFacing ? -1.0 : 1.0) * (gl_FragCoord.z - 0.5) * range;
    way = vec4(sum, 0.0, 0.0, gl_FragCoord.z);
}
