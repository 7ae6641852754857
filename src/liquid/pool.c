#include <undine/pool.h>

#include <math.h>

und_pool_def und_pool_def_default(void)
{
    return (und_pool_def){
        .nx = 128,
        .nz = 128,
        .dx = 0.1,
        .gravity = 9.81,
        .density = 1000,
        .ground = {.number = -1},
        .rain = {.radius = 0.01, .top = 10, .speed = 8, .end = INFINITY},
        .seed = 1,
    };
}
