in vec2 at;
in float len;
out vec4 color;
void main()
{
    float head = min(0.55 * len, 9.0), half_width = 0.8 * min(1.0, 0.4 + len / 12.0);
    float shaft = max(abs(at.x - 0.5 * (len - head)) - 0.5 * (len - head), abs(at.y) - half_width);
    float tip = len - at.x;
    float wing = max((abs(at.y) - 0.40 * tip) * 0.928, tip - head);
    float away = min(shaft, wing);
    float ink = clamp(0.5 - away, 0.0, 1.0), rim = clamp(1.9 - away, 0.0, 1.0);
    float shown = clamp(len / 2.5 - 0.3, 0.0, 1.0);
    color = vec4(mix(vec3(1.0), vec3(0.07, 0.10, 0.19), ink), shown * max(ink, 0.7 * rim));
}
