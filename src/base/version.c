#include <undine/undine.h>

const char *und_version(void)
{
    return UND_VERSION;
}
