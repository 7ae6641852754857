uniform sampler2D colormaps;
uniform int colormap;
vec3 map_color(float value01)
{
    float t = clamp(value01, 0.0, 1.0);
    vec2 size = vec2(textureSize(colormaps, 0));
    vec2 place = vec2((t * (size.x - 1.0) + 0.5) / size.x, (float(colormap) + 0.5) / size.y);
    return textureLod(colormaps, place, 0.0).rgb;
}
