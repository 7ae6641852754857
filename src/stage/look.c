#include "stage/look.h"

#include "stage/optics.h"

#include <stddef.h>

#define METAL(roughness_, ...)                                                    \
    {                                                                             \
        .kind = UND_MATTER_METAL, .color = {__VA_ARGS__}, .roughness = roughness_ \
    }
#define CLEAR(index_, priority_, ...)                                                                        \
    {                                                                                                        \
        .kind = UND_MATTER_DIELECTRIC, .index = index_, .priority = priority_, .absorption = { __VA_ARGS__ } \
    }
#define COATED(roughness_, ...)                                                                              \
    {                                                                                                        \
        .kind = UND_MATTER_GLOSSY, .index = UND_GLASS_INDEX, .color = {__VA_ARGS__}, .roughness = roughness_ \
    }
#define DULL(...)                                            \
    {                                                        \
        .kind = UND_MATTER_DIFFUSE, .color = { __VA_ARGS__ } \
    }

/* Metals by their reflectance head on in linear Rec. 709, from measured indices; liquids and glass by how
 * fast they take red, green and blue away. */
const und_named_matter und_named_matters[] = {{"steel", METAL(0.25f, 0.56f, 0.57f, 0.58f)},
                                              {"chrome", METAL(0.02f, 0.55f, 0.556f, 0.554f)},
                                              {"aluminium", METAL(0.3f, 0.913f, 0.922f, 0.924f)},
                                              {"silver", METAL(0.08f, 0.972f, 0.96f, 0.915f)},
                                              {"gold", METAL(0.12f, 1, 0.782f, 0.344f)},
                                              {"copper", METAL(0.15f, 0.955f, 0.638f, 0.538f)},
                                              {"mercury", METAL(0, 0.78f, 0.78f, 0.79f)},
                                              {"glass", CLEAR(UND_GLASS_INDEX, 2, 0.9f, 0.25f, 0.5f)},
                                              {"ice", CLEAR(1.31f, 2, 1.2f, 0.3f, 0.15f)},
                                              {"water", CLEAR(UND_WATER_INDEX, 1, UND_WATER_ABSORPTION)},
                                              {"oil", CLEAR(1.47f, 1, 0.6f, 1.2f, 9)},
                                              {"honey", CLEAR(1.49f, 1, 3, 14, 60)},
                                              {"wine", CLEAR(1.344f, 1, 6, 60, 50)},
                                              {"plastic", COATED(0.2f, 0.7f, 0.7f, 0.7f)},
                                              {"rubber", COATED(0.65f, 0.035f, 0.035f, 0.037f)},
                                              {"wood", COATED(0.45f, 0.36f, 0.2f, 0.1f)},
                                              {"marble", COATED(0.12f, 0.8f, 0.78f, 0.74f)},
                                              {"ceramic", COATED(0.04f, 0.82f, 0.81f, 0.78f)},
                                              {"concrete", DULL(0.46f, 0.45f, 0.43f)},
                                              {"stone", DULL(0.3f, 0.28f, 0.26f)},
                                              {"chalk", DULL(0.85f, 0.85f, 0.83f)},
                                              {NULL, DULL(0)}};
