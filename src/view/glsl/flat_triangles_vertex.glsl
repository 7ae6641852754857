/* Triangles of bodies; `push` pixels outwards by hand of the outline's passes. */
layout(location = 0) in vec2 corner;
layout(location = 1) in vec3 paint;
uniform vec2 middle, reach, push; /* m, m, clip */
out vec3 painted;
void main()
{
    painted = paint;
    gl_Position = vec4((corner - middle) / reach + push, 0.0, 1.0);
}
