in vec3 place, facing, base_color;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 shown_kind;
void main()
{
    vec3 even, direct, n = normalize(facing);
#if GOOD
    thing_light(place, n, base_color, even, direct);
#else
    even = base_color;
    direct = facing;
#endif
    vec3 light = even + direct * (under_water > 0.5 ? 1.0 : shade_at(place + sun * (0.004 * span)));
    vec3 dir = looking_at(place);
    float away = flat_view > 0.5 ? 1.0 : distance(place, eye);
    color =
        under_water > 0.5 ? vec4(light, dot(place - eye, forward)) : vec4(shown(hazy(light, dir, away)), 1.0);
    shown_kind = vec4(6.0 / 255.0);
}
