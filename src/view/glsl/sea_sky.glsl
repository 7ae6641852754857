void main()
{
    vec3 dir = looking_at(place_here());
    float disc = und_sun_disc(dot(dir, sun));
    color = vec4(shown(sky_at(dir) + sun_color * disc), 1.0);
}
