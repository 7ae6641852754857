/* Linear light to 8-bit sRGB, exactly rounded, without a power per pixel. */
#ifndef UND_IO_SRGB8_H
#define UND_IO_SRGB8_H

#include <stdint.h>

enum { SRGB8_BINS = 4096 };

typedef struct srgb8 {
    float upper[256];              /* code k is for values below upper[k] */
    uint8_t first[SRGB8_BINS + 1]; /* the code at the low end of each bin of [0, 1] */
} srgb8;

void und_srgb8_init(srgb8 *table);

static inline uint8_t srgb8_encode(const srgb8 *table, float linear)
{
    if (!(linear > 0)) /* NaN too */
        return 0;
    if (linear >= 1)
        return 255;
    int code = table->first[(int)(linear * SRGB8_BINS)];
    while (linear >= table->upper[code])
        code++;
    return (uint8_t)code;
}

#endif
