#include "liquid/devices.h"

#include "base/status.h"

#include <string.h>

und_status und_devices_open(const char *name, und_card **card, und_error *err)
{
    und_card_kernels kernels;
    const und_card_kind *kind = strcmp(name, "gpu") == 0       ? &und_card_cuda
                                : strcmp(name, "process") == 0 ? &und_card_process
                                                               : NULL;
    *card = NULL;
    if (!kind && strcmp(name, "cpu") != 0)
        return und_error_set(err, UND_INVALID, "--device %s: expected cpu or gpu", name);
    if (kind && !(*card = und_card_open(kind, und_devices_kernels(&kernels), err)))
        return err->status;
    return UND_OK;
}
