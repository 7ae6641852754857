void main()
{
    vec3 dir = looking_at(place_here());
    float disc = 25.0 * smoothstep(0.99985, 0.99998, dot(dir, sun));
    color = vec4(shown(sky_at(dir) + sun_color * disc), 1.0);
}
