/* Where a place is in the maps. */
uniform vec4 plan;   /* x and z of the low corner, m; 1 / sides */
uniform vec4 fine;   /* along x and z, (n - 1) / n and 0.5 / n of the maps that are drawn from */
uniform vec4 coarse; /* the same of the frame's samples */
vec2 plan_at(vec2 xz)
{
    return (xz - plan.xy) * plan.zw;
}
vec2 fine_at(vec2 p)
{
    return p * fine.xz + fine.yw;
}
vec2 coarse_at(vec2 p)
{
    return p * coarse.xz + coarse.yw;
}
