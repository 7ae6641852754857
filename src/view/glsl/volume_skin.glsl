/* The surface as triangles: its normal, on the eye's side. */
in vec3 point, normal;
in vec4 tint;
out vec4 surface;
void main()
{
    vec3 n = normalize(normal), face = normalize(cross(dFdx(point), dFdy(point)));
    n = abs(dot(n, face)) < 0.5 ? face * (dot(n, face) < 0.0 ? -1.0 : 1.0) : n; /* creases are sharp
                                                                                 */
    surface = vec4(gl_FrontFacing ? n : -n, 1.0);
}
