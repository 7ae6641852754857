/* What light does to water and to what is in it and around it, for all who draw it: numbers and formulas of
 * single numbers, in a language that is C (optics.h) and GLSL (embed_glsl.cmake) alike. */
#ifndef UND_OPTICS_GLSL
#define UND_OPTICS_GLSL

#ifndef OPTICS /* in a shader; C has these names already */
#define OPTICS
#define CONSTANT const
#define REAL float
#define FRESNEL und_fresnelf
#define ROOT sqrt
#define minf min
#define maxf max
#define clampf clamp
#define mixf mix
#define floorf floor
#define sqrtf sqrt
#define und_expf exp
#define und_sinf sin
float stepf(float low, float high, float v)
{
    float t = clamp((v - low) / (high - low), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}
#endif

#include "stage/fresnel.glsl"

/* ---- surfaces that mirror ---- */

#define UND_WATER_INDEX 1.333 /* these are in C's tables, too */
#define UND_WATER_ABSORPTION 0.70f, 0.13f, 0.06f
#define UND_GLASS_INDEX 1.5f
CONSTANT float UND_COAT_INDEX = 1.4f;     /* of bodies */
CONSTANT float UND_COAT_SHARP = 90.0f;    /* power of the sun's image on them */
CONSTANT float UND_COAT_BRIGHT = 1.1f;    /* and how bright it is */
CONSTANT float UND_LEAST_FACING = 0.03f;  /* cosine at which what turns away within a pixel is seen */
CONSTANT float UND_LEAST_THROUGH = 0.02f; /* the same of films and panes */
CONSTANT float UND_HORIZON = 0.02f;       /* height of the direction in which haze has its colour */

/* Both faces of a film or a pane, with all that goes back and forth between them. */
OPTICS float und_both_faces(float one)
{
    return 2.0f * one / (1.0f + one);
}

/* Share of light that a film of water scatters: what drifts in it, and its rims, by their square. */
CONSTANT float UND_FILM_VEIL = 0.04f, UND_FILM_RIM = 0.5f;

/* Schlick 1994: how far a metal's colour has gone to white. */
OPTICS float und_schlick(float cosine)
{
    float k = 1.0f - clampf(cosine, 0.0f, 1.0f), k2 = k * k;
    return k2 * k2 * k;
}

/* Share of what a body's coat mirrors of the sky, none of it from below. */
OPTICS float und_coat(float cosine, float up)
{
    return und_fresnelf(cosine, UND_COAT_INDEX) * stepf(-0.3f, 0.2f, up);
}

/* The sun in waves: microfacets whose slopes scatter with the variance about the surface's; a: square of the
 * slope that is missing, over twice the variance; up2: square of the facet's height; facing: of the surface.
 */
OPTICS float und_glitter(float a, float variance, float mirrored, float up2, float facing)
{
    if (a > 12.0f)
        return 0.0f;
    float density = und_expf(-a) / (6.2831853f * variance);
    return minf(3.1415927f * mirrored * density / (4.0f * maxf(facing, 0.15f) * up2 * up2), 8.0f);
}

/* The same on a liquid that is slightly uneven; c: cosine between its normal and the facet's. */
OPTICS float und_highlight(float c, float mirrored, float facing)
{
    if (c < 0.5f)
        return 0.0f;
    float variance = 4e-4f, c2 = c * c, a = (1.0f - c2) / c2 / (2.0f * variance);
    if (a > 12.0f)
        return 0.0f;
    float density = und_expf(-a) / (6.2831853f * variance * c2 * c2);
    return minf(3.1415927f * mirrored * density / (4.0f * maxf(facing, 0.15f)), 8.0f);
}

/* The sun itself, by the cosine between a direction and its own. */
OPTICS float und_sun_disc(float c)
{
    return 25.0f * stepf(0.99985f, 0.99998f, c);
}

/* How much of the sun passes what is up to `shadow` high; a penumbra of `soft` metres,
 * wider than the sun's half degree, as under a hazy sky: it hides the mesh's steps. */
OPTICS float und_sun_over(float shadow, float height, float soft)
{
    return 1.0f - stepf(-0.25f * soft, soft, shadow - height);
}

/* ---- in the water ---- */

CONSTANT float UND_SKY_WAY = 1.2f;     /* light of the sky goes farther than straight down, so many times */
CONSTANT float UND_LOWEST_SUN = 0.02f; /* height of the sun under water, at least */

/* What is left of light after a way through something that absorbs (Beer). */
OPTICS float und_beer(float absorption, float way)
{
    return und_expf(-absorption * way);
}

/* Cosine behind a level surface, from that in front of it (Snell). */
OPTICS float und_bent_cosine(float c, float ratio)
{
    return sqrtf(1.0f - (1.0f - c * c) / (ratio * ratio));
}

/* How bright the sun's beam is under water: less enters, and the beam is narrower. */
OPTICS float und_beam(float c, float ratio, float below)
{
    return (1.0f - und_fresnelf(c, ratio)) * c / below;
}

/* How far a film of water is water in what it does to light. */
OPTICS float und_film_depth(float water, float cell)
{
    return clampf(water / (0.5f * cell), 0.0f, 1.0f);
}

/* Shadows under water are not quite dark. */
OPTICS float und_shade_in_water(float sun)
{
    return 0.2f + 0.8f * sun;
}

/* Light scattered in a liquid comes from a wider half of the sky than light off a wall. */
OPTICS float und_wrapped_sun(float c)
{
    return 0.7f * clampf((c + 0.4f) / 1.4f, 0.0f, 1.0f);
}

/* Light of the sun that drops send on, mostly forwards (Henyey & Greenstein 1941, g = 0.5). */
OPTICS float und_forwards(float c)
{
    float k = 1.25f - c;
    return clampf(0.75f / (k * sqrtf(k)), 0.5f, 2.5f);
}

/* The same of spray, of which a few drops show the sun itself; chance: 0 to 1. */
OPTICS float und_drop_sun(float c, float chance)
{
    return 0.6f * und_forwards(c) * (chance < 0.06f ? 4.0f : 0.65f + 0.3f * chance);
}

/* ---- wet ground ---- */

/* Kass & Miller 1990: wetness darkens the ground by up to a half.  Under deep water we take less, where the
 * water itself darkens it. */
OPTICS float und_wet_factor(float darkening, float porous, float wet, float depth, float cell)
{
    float less = 1.0f - 0.5f * clampf(depth / (6.0f * cell), 0.0f, 1.0f);
    return 1.0f - darkening * porous * wet * less;
}

/* A film wets as the ground next to it. */
OPTICS float und_wet_by_film(float depth, float cell)
{
    return clampf(depth / (0.05f * cell), 0.0f, 1.0f);
}

/* Share of water's mirror that wet ground has. */
OPTICS float und_wet_sheen(float wet, float sheen)
{
    return wet * wet * sheen;
}

/* Depth at which water shows fully, where nobody says. */
OPTICS float und_shore_depth(float said, float cell)
{
    return said > 0.0f ? said : 0.15f * cell;
}

/* ---- fine waves and foam ---- */

CONSTANT float UND_DRIFT_PERIOD = 1.5f; /* s; a pattern drifts so long with the water */
CONSTANT float UND_LENS_RIPPLES =
    0.4f; /* of fine waves, that the bottom is seen through: it would only blur */
CONSTANT float UND_FOAM_LEAST = 0.004f; /* less is none */
CONSTANT float UND_FOAM_BRIGHT = 0.78f;
CONSTANT float UND_FOAM_ROUND = 0.4f;   /* of a slope: bubbles scatter, light goes round it */
CONSTANT float UND_FOAM_FINE = 2.9f;    /* the finer lace repeats so often */
CONSTANT float UND_FOAM_SHIFT = 0.4f;   /* where it begins, periods */
CONSTANT float UND_FOAM_SECOND = 0.37f; /* where the second copy begins */

/* Share of a drifting copy: none when it is taken back. */
OPTICS float und_drift_share(float part)
{
    float off = 2.0f * part - 1.0f;
    return 1.0f - (off > 0.0f ? off : -off);
}

/* How much of a pattern with a period pixels so wide can show. */
OPTICS float und_resolved(float wide, float period)
{
    float k = 14.0f * wide / period;
    return 1.0f / (1.0f + k * k);
}

OPTICS float und_ripple_period(float size, float cell)
{
    return 12.0f * (size > 0.0f ? size : 3.0f * cell);
}

OPTICS float und_ripple_speed(float period)
{
    return 0.35f * sqrtf(9.81f * period / 12.0f / 6.283f);
}

OPTICS float und_ripple_slope(float amount)
{
    return 0.06f * amount * 1.4142136f;
}

/* Variance of slope that pixels cannot show. */
OPTICS float und_ripple_lost(float keep, float slope)
{
    return (1.0f - keep * keep) * 0.5f * slope * slope;
}

/* Where the second of two seas that run through each other is looked up, in periods; the first is at
 * u + run, w + 0.3 run. */
CONSTANT float UND_RIPPLE_ASIDE = 0.3f;
OPTICS float und_ripple_u(float u, float w, float run)
{
    return 2.1f * u + 1.1f * w - 1.6f * run + 0.37f;
}
OPTICS float und_ripple_w(float u, float w, float run)
{
    return 2.1f * w - 1.1f * u + 0.8f * run;
}

/* Variance of slope of all water, and of what a mesh with such cells cannot have. */
OPTICS float und_facet_variance(float wide, float cell)
{
    return 1.6e-4f + 2e-4f * minf(1.0f, wide * wide / (cell * cell));
}

OPTICS float und_foam_period(float grain, float span)
{
    return 0.5f * grain * span;
}

OPTICS float und_foam_lace(float coarse, float fine)
{
    return 0.62f * coarse + 0.42f * fine;
}

OPTICS float und_foam_share(float foam, float lace, float wide, float period)
{
    float edge = 1.0f - clampf(foam, 0.0f, 1.0f), k = 30.0f * wide / period, soft = 0.22f + minf(k * k, 1.0f);
    return clampf(foam * 3.0f, 0.0f, 1.0f) * stepf(edge - soft, edge + soft, lace);
}

/* ---- the ground ---- */

CONSTANT float UND_GRAIN_FINE = 0.071f; /* of the pattern's size, its finer part, which is turned: */
CONSTANT float UND_GRAIN_COS = 0.83f, UND_GRAIN_SIN = 0.56f;
CONSTANT float UND_GRASS_SOFT = 0.012f; /* of the domain's side */
CONSTANT float UND_CUT_SHADE = 0.22f;   /* of the sun, on cut faces that it does not reach */
CONSTANT float UND_CUT_RIM = 1.4f;      /* how bright the edge of cut water is */
CONSTANT float UND_EARTH_THICK = 0.02f; /* of the domain's side: a layer */
CONSTANT float UND_CONCRETE_R = 0.42f, UND_CONCRETE_G = 0.41f, UND_CONCRETE_B = 0.39f;

OPTICS float und_rock_share(float steep, float edge, float broad)
{
    return stepf(0.8f * edge, 1.25f * edge, steep * (1.0f + 0.25f * broad));
}

OPTICS float und_grass_share(float rise, float soft, float steep, float edge)
{
    return stepf(-soft, soft, rise) * (1.0f - stepf(0.5f * edge, 0.9f * edge, steep));
}

/* How bright sand, rock and grass are, of their own colours, by broad and fine noise as far as pixels show
 * it. */
OPTICS float und_sand_shade(float strength, float some, float broad, float keep, float fine)
{
    return 1.0f + strength * (0.15f * some * broad + 0.16f * keep * fine);
}
OPTICS float und_rock_shade(float some, float broad, float keep, float fine)
{
    return 1.0f + 0.30f * some * broad + 0.25f * keep * fine;
}
OPTICS float und_grass_shade(float some, float broad, float keep, float fine)
{
    return 1.0f + 0.25f * some * broad + 0.35f * keep * fine;
}

OPTICS float und_ground_rough(float strength, float rock, float grass)
{
    return strength * (1.0f + 2.5f * rock + 2.0f * grass);
}
OPTICS float und_ground_bump(float rough, float keep, float fine, float some, float broad)
{
    return rough * (0.0016f * keep * fine + 0.0016f * some * broad);
}
OPTICS float und_ground_gloss(float grass)
{
    return 1.0f - 0.7f * grass;
}

/* Share of lines, one per period and `width` wide, in a window of `wide` about x: the mean of a square wave.
 */
OPTICS float und_line_share(float x, float period, float width, float wide)
{
    float part = width / period, a = (x - 0.5f * wide) / period, b = (x + 0.5f * wide) / period;
    float fa = floorf(a), fb = floorf(b);
    float sum = (fb - fa) * part + minf(b - fb, part) - minf(a - fa, part);
    return clampf(sum * period / wide, 0.0f, 1.0f);
}

/* The window that a pixel is on tiles. */
OPTICS float und_tile_window(float wide, float tile)
{
    return clampf(1.6f * wide, 1e-4f * tile, 64.0f * tile);
}

/* No two tiles are alike, where they can be told apart; chance: 0 to 1. */
OPTICS float und_tile_shade(float window, float tile, float chance, float broad)
{
    float near = stepf(1.0f, 0.25f, window / tile);
    return 1.0f + near * 0.16f * (chance - 0.5f) + 0.03f * broad;
}

/* Layers of earth, bent and grained by noise. */
OPTICS float und_earth_rock(float below, float thick, float bend)
{
    float layer = 0.5f + 0.5f * und_sinf((below + 0.6f * thick * bend) / thick * 1.7f);
    return 0.45f + 0.3f * layer;
}
OPTICS float und_earth_under(float below, float thick)
{
    return stepf(0.0f, 0.7f * thick, below);
}
OPTICS float und_earth_shade(float below, float span, float bits)
{
    return (0.75f + 0.1f * bits) * (1.0f - 0.3f * stepf(0.0f, span * 0.2f, below));
}
OPTICS float und_concrete_shade(float bits, float bend)
{
    return 0.9f + 0.1f * bits + 0.06f * bend;
}
/* Share of tiles on concrete, above its cut face. */
OPTICS float und_tiles_on_top(float below, float tile, float wide)
{
    return 1.0f - stepf(0.0f, 2.0f * wide, below - 0.25f * tile);
}
OPTICS float und_cut_sun(float c)
{
    return UND_CUT_SHADE + 0.35f * maxf(c, 0.0f);
}
/* The edge of cut water, where its surface is `above` metres higher. */
OPTICS float und_cut_edge(float above, float wide)
{
    float rim = 1.0f - clampf(above / (1.5f * wide), 0.0f, 1.0f);
    return 0.6f * rim;
}

/* ---- from light to pictures ---- */

/* Rational fit to the film curve of the Academy's reference rendering (Narkowicz 2015). */
OPTICS float und_film_curve(float light)
{
    float x = maxf(light, 0.0f) * 0.55f;
    return clampf(x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f), 0.0f, 1.0f);
}

/* A colour's part on film, from the mean of its three: the curve pales colours; dyes of film are purer. */
OPTICS float und_film_part(float part, float mean)
{
    return und_film_curve(mixf(part, mean, -0.2f));
}

#endif
