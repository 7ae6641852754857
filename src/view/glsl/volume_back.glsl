in vec2 place;
out vec4 color;
uniform mat4 inverse, both;
uniform float pixel, flat_lens, with_floor;
void main()
{
    vec4 a = inverse * vec4(place, -1.0, 1.0), b = inverse * vec4(place, 1.0, 1.0);
    vec3 from = a.xyz / a.w, d = normalize(b.xyz / b.w - from);
    from = flat_lens > 0.5 ? from : eye;
    gl_FragDepth = 1.0;
    if (with_floor < 0.5 || from.y < floor_height) {
        color = vec4(sky_at(d, 0.0), 1.0);
        return;
    }
    vec3 far = sky_at(d, 0.0);
    color = vec4(far, 1.0);
    if (d.y < -1e-5) {
        float t = (floor_height - from.y) / d.y;
        vec3 p = from + d * t, near = floor_at(p, max(pixel * t / max(-d.y, 0.05), 1e-6));
        color = vec4(mix(near, far, smoothstep(72.0, 80.0, t / span)), 1.0);
        vec4 q = both * vec4(p, 1.0);
        gl_FragDepth = q.w > 0.0 ? clamp(0.5 * q.z / q.w + 0.5, 0.0, 1.0) : 1.0;
    }
}
