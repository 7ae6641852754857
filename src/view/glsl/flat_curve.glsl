/* A section of ground, water and sky.  Heights in metres; what section.c of the renderer draws, in the
 * colours of the screen. */
in vec2 place;
out vec4 color;
uniform vec2 middle, reach; /* x in samples, y in m */
uniform vec2 pixel;
uniform float spacing; /* m between samples */
uniform int count, row;
uniform float span, level, low; /* m: seen in all; mean surface; lowest ground */
uniform float darkening;
uniform sampler2D curve;
uniform vec3 sky_top;
vec4 sample_at(int i)
{
    i = clamp(i, 0, count - 1);
    return texelFetch(curve, ivec2(i % row, i / row), 0);
}
float shore(float wet, float ground, float t)
{
    return ground >= wet ? wet : mix(wet, ground, t);
}
/* Surface, ground, wetness, depth; slopes of the first two, m per sample, and the lowest
   ground beside. */
vec4 place_at(float u, out vec2 slope, out float foot)
{
    u = clamp(u, 0.0, float(count - 1));
    int i = min(int(u), count - 2);
    float t = u - float(i);
    vec4 a = sample_at(i - 1), b = sample_at(i), c = sample_at(i + 1), d = sample_at(i + 2);
    float ground = mix(b.y, c.y, t), top = ground;
    foot = min(min(a.y, b.y), min(c.y, d.y));
    slope = b.z > 0.0 && c.z > 0.0 ? c.xy - b.xy : vec2(c.y - b.y);
    if (b.z > 0.0 && c.z > 0.0) {
        float e = a.z > 0.0 ? a.x : b.x, f = d.z > 0.0 ? d.x : c.x;
        top =
            b.x +
            0.5 * t * (c.x - e + t * (2.0 * e - 5.0 * b.x + 4.0 * c.x - f + t * (3.0 * (b.x - c.x) + f - e)));
    } else if (b.z > 0.0) {
        top = shore(b.x, c.y, t);
    } else if (c.z > 0.0) {
        top = shore(c.x, b.y, 1.0 - t);
    }
    return vec4(top, ground, mix(b.w, c.w, t), max(top - ground, 0.0));
}
float hash(vec2 p)
{
    vec2 q = fract(p * vec2(0.1031, 0.1130));
    q += dot(q, q.yx + 19.19);
    return fract((q.x + q.y) * q.x);
}
float noise(vec2 p)
{
    vec2 i = floor(p), t = p - i;
    t = t * t * (3.0 - 2.0 * t);
    return mix(mix(hash(i), hash(i + vec2(1.0, 0.0)), t.x),
               mix(hash(i + vec2(0.0, 1.0)), hash(i + vec2(1.0, 1.0)), t.x), t.y);
}
vec3 earth(vec2 p, float below, float wet)
{
    vec2 q = p / span;
    float rough = noise(9.0 * q + 40.0), fine = noise(70.0 * q + 80.0), grain = noise(260.0 * q);
    float layer = 0.5 + 0.5 * sin(85.0 * q.y + 5.0 * rough + 0.8 * fine);
    vec3 sand = vec3(0.795, 0.685, 0.53), clay = vec3(0.60, 0.475, 0.345), stone = vec3(0.46, 0.40, 0.355);
    vec3 deep = mix(stone, clay, smoothstep(-0.05, 0.4, (p.y - low) / span));
    vec3 c = mix(deep, mix(deep, sand, 0.4), layer);
    c = mix(sand, c, smoothstep(0.0, 0.035, below / span + 0.012 * (fine - 0.5)));
    c *= 0.96 + 0.05 * fine + 0.03 * grain;
    return c * (1.0 - darkening * wet * exp(-below / (0.014 * span)));
}
vec3 water(float depth, float over_ground)
{
    vec3 c = mix(vec3(0.40, 0.75, 0.88), vec3(0.075, 0.33, 0.55), 1.0 - exp(-depth / (0.2 * span)));
    return c * mix(0.90, 1.0, smoothstep(0.0, 0.035 * span, over_ground));
}
void main()
{
    vec2 g = middle + place * reach;
    vec2 slope;
    float foot;
    vec4 p = place_at(g.x, slope, foot);
    slope *= pixel.x / pixel.y; /* in the picture */
    vec2 lean = sqrt(1.0 + slope * slope);
    float above = (g.y - level) / (0.75 * span);
    vec3 sky = mix(vec3(0.925, 0.955, 0.97), sky_top, clamp(above, 0.0, 1.0));
    float ground = clamp((p.y - g.y) / (pixel.y * lean.y) + 0.5, 0.0, 1.0);
    float wet = p.w > 0.0 ? clamp((p.x - g.y) / (pixel.y * lean.x) + 0.5, 0.0, 1.0) : 0.0;
    vec3 c = sky;
    if (wet > 0.0) {
        float below = max(p.x - g.y, 0.0), near = exp(-below / (0.08 * span));
        vec3 w = water(max(mix(level - g.y, below, near), 0.0), max(g.y - p.y, 0.0));
        float light = exp(-below / (7.0 * pixel.y)) * clamp(p.w / pixel.y, 0.0, 1.0);
        c = mix(c, mix(w, vec3(0.78, 0.94, 0.97), 0.5 * light), wet);
    }
    if (ground > 0.0) {
        float below = max(max(p.y - g.y, 0.0) / lean.y, foot - g.y);
        vec3 e = earth(vec2(g.x * spacing, g.y), below, p.z);
        c = mix(c, e * (1.0 - 0.22 * exp(-below / (2.5 * pixel.y))), ground);
    }
    float line = clamp(p.w / pixel.y, 0.0, 1.0) * (1.0 - ground) *
                 clamp(1.6 - abs(p.x - g.y) / (pixel.y * lean.x), 0.0, 1.0);
    c = mix(c, vec3(0.97, 0.995, 1.0), line);
    float outside = clamp(max(-0.5 - g.x, g.x - float(count) + 0.5) / pixel.x + 0.5, 0.0, 1.0);
    c = mix(c, vec3(0.845, 0.86, 0.88), outside);
    color = vec4(c, 1.0);
}
