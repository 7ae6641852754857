/* The level set's kernels as a process of this machine runs them (base/card_process.c): one lane, one place a
 * call, as on a graphics card; and the text of the same kernels for Nvidia's, which the build makes. */
#include "liquid/card_kernels.h"

#include "liquid/devices.h"

extern const und_card_named __start_und_card[], __stop_und_card[];

#ifdef UND_PTX
__asm__(".section .rodata\n"
        ".global und_card_ptx\n"
        "und_card_ptx:\n"
        ".incbin \"" UND_PTX "\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char und_card_ptx[];
#else
static const char *const und_card_ptx = NULL;
#endif

const und_card_kernels *und_devices_kernels(und_card_kernels *kernels)
{
    *kernels = (und_card_kernels){__start_und_card, __stop_und_card, und_card_ptx};
    return kernels;
}
