/* What pictures are made with where nobody says otherwise, and what of it cannot be. */
#include "stage/picture.h"

#include "base/status.h"
#include "stage/optics.h"

#include <math.h>

und_picture_def und_picture_def_default(void)
{
    return (und_picture_def){
        .width = 1280,
        .height = 720,
        .samples = 2,
        .fov = 40,
        .sun = {.constant = {-0.5, 0.65, -0.4}},
        .sun_color = {2.3f, 2.05f, 1.7f},
        .sky_zenith = {0.045f, 0.155f, 0.46f},
        .sky_horizon = {0.50f, 0.68f, 0.86f},
        .clouds = 0.35,
        .water_color = {0.006f, 0.065f, 0.125f},
        .absorption = {UND_WATER_ABSORPTION},
        .dye_color = {0.55f, 0.05f, 0.12f},
        .dye_strength = 8,
        .paint = {.color = {{0.80f, 0.74f, 0.60f}, {0.42f, 0.05f, 0.03f}}},
        .gloss = 0.6,
        .refraction = UND_WATER_INDEX,
        .ripples = 0.35,
        .caustics = 2,
        .ground_color = {0.54f, 0.43f, 0.30f},
        .rock_color = {0.20f, 0.17f, 0.145f},
        .rock_slope = 38,
        .grass_color = {0.08f, 0.14f, 0.03f},
        .grass_height = INFINITY,
        .tile = 0.3,
        .grout = 0.012,
        .tile_color = {0.34f, 0.66f, 0.76f},
        .grout_color = {0.78f, 0.84f, 0.84f},
        .grain = 0.35,
        .texture = 1,
        .wet_darkening = 0.5,
        .sheen = 0.5,
        .drying = 8,
        .foam = 1,
        .haze = INFINITY,
        .shutter = 1.0 / 60,
        .rain_width = 0.004,
        .tone = true,
        .vertical = 1,
        .sides = true,
        .background = {0.94f, 0.96f, 0.98f},
        .photons = -1,
        .sun_angle = 0.53,
        .motion_blur = true,
    };
}

und_status und_picture_check(const und_picture_def *d, und_error *err)
{
    if (d->width < 1 || d->height < 1 || d->width > 16384 || d->height > 16384)
        return und_error_set(err, UND_INVALID, "a picture is 1 to 16384 pixels wide and high, not %d x %d",
                             d->width, d->height);
    if (d->samples < 1 || d->samples > 8)
        return und_error_set(err, UND_INVALID, "samples: expected 1 to 8, found %d", d->samples);
    if (!(d->noise >= 0 && d->noise <= 1) || d->least_samples < 0 || d->most_samples < 0 || d->bounces < 0)
        return und_error_set(err, UND_INVALID, "noise (at most 1), samples and bounces cannot be negative");
    if (!(d->lens >= 0 && d->focus >= 0 && d->sun_angle >= 0 && d->sun_angle <= 90) || !(d->photons < 1e4))
        return und_error_set(err, UND_INVALID, "lens, focus, the sun's angle or photons are out of range");
    if (d->blur < 0 || d->blur > 256)
        return und_error_set(err, UND_INVALID, "blur: expected 0 to 256, found %d", d->blur);
    if (!(d->tile > 0))
        return und_error_set(err, UND_INVALID, "tile: expected a side above 0, found %g", d->tile);
    if (!(d->fov >= 1 && d->fov <= 150))
        return und_error_set(err, UND_INVALID, "fov: expected 1 to 150 degrees, found %g", d->fov);
    if (!(d->refraction >= 1 && d->refraction <= 4))
        return und_error_set(err, UND_INVALID, "refraction: expected an index from 1 to 4, found %g",
                             d->refraction);
    if (!(d->vertical > 0 && d->vertical <= 1000))
        return und_error_set(err, UND_INVALID, "vertical: expected a factor up to 1000, found %g",
                             d->vertical);
    if (!(d->grain > 0) || !(d->rock_slope > 0 && d->rock_slope < 90))
        return und_error_set(err, UND_INVALID, "grain and rock_slope (under 90 degrees) must be positive");
    if ((d->sky && (!d->sky->rgb || d->sky->width < 2 || d->sky->height < 2)) ||
        (d->ground_map && (!d->ground_map->rgb || d->ground_map->width < 2 || d->ground_map->height < 2)))
        return und_error_set(err, UND_INVALID, "a map of the sky or the ground needs 2 x 2 pixels or more");
    return UND_OK;
}
