#include "io/srgb8.h"

#include "base/maths.h"

#include <math.h>

void und_srgb8_init(srgb8 *table)
{
    for (int code = 0; code < 255; code++) {
        double edge = (code + 0.5) / 255;
        table->upper[code] = (float)(edge <= 0.04045 ? edge / 12.92 : und_pow((edge + 0.055) / 1.055, 2.4));
    }
    table->upper[255] = INFINITY;
    int code = 0;
    for (int bin = 0; bin <= SRGB8_BINS; bin++) {
        while ((float)bin / SRGB8_BINS >= table->upper[code])
            code++;
        table->first[bin] = (uint8_t)code;
    }
}
