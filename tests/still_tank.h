/* Frames of a tank of liquid at rest or in a given motion, as the cells model writes them. */
#ifndef UND_TESTS_STILL_TANK_H
#define UND_TESTS_STILL_TANK_H

#include "tests/test.h"

#include "grid/frame.h"

#include <undine/cells.h>

typedef struct tank {
    int n[3];
    double d[3], origin[3];
    double level;                                     /* m above the origin's height */
    bool heights;                                     /* "surface" and "ground" come with it */
    double (*velocity)(int axis, double x, double z); /* NULL: at rest */
    bool (*solid)(double x, double y, double z);      /* NULL: nowhere */
    double pressure_x;                                /* Pa/m, on top of the liquid's weight */
} tank;

static inline tank small_tank(int cells, double size, double level)
{
    double d = size / cells;
    return (tank){.n = {cells, cells, cells}, .d = {d, d, d}, .level = level, .heights = true};
}

static inline double tank_place(const tank *t, int axis, double cell)
{
    return t->origin[axis] + cell * t->d[axis];
}

static inline void *tank_item(und_frame *f, const char *name, und_type type, size_t z, size_t y, size_t x)
{
    und_item_def def = {.name = name, .unit = "1", .kind = UND_FIELD, .type = type, .rank = y ? 3 : 2};
    def.dim[0] = z;
    def.dim[1] = y ? y : x;
    def.dim[2] = y ? x : 0;
    und_error err = {0};
    und_item *item = und_frame_add(f, &def, &err);
    assert_non_null(item);
    return item->data;
}

static inline bool tank_solid(const tank *t, int x, int y, int z)
{
    return t->solid &&
           t->solid(tank_place(t, 0, x + 0.5), tank_place(t, 1, y + 0.5), tank_place(t, 2, z + 0.5));
}

/* Pressure is that of the air at the middle of Surface cells as the paper has it, or, where heights track the
 * liquid, that of its weight below the surface. */
static inline void tank_cell(const tank *t, int x, int y, int z, uint8_t *label, float *pressure)
{
    double low = y * t->d[1], high = low + t->d[1], middle = low + 0.5 * t->d[1];
    *label = t->level >= high - 1e-9 && t->level > low + t->d[1] ? UND_CELL_FULL
             : t->level > low                                    ? UND_CELL_SURFACE
                                                                 : UND_CELL_EMPTY;
    double top = t->heights ? t->level : (ceil(t->level / t->d[1] - 1e-9) - 0.5) * t->d[1];
    if (tank_solid(t, x, y, z))
        *label = UND_CELL_SOLID;
    bool liquid = *label == UND_CELL_FULL || *label == UND_CELL_SURFACE;
    *pressure =
        liquid ? (float)(1000 * 9.81 * (top - middle) + t->pressure_x * tank_place(t, 0, x + 0.5)) : 0;
}

static inline void tank_velocity(const tank *t, und_frame *f)
{
    static const char *const names[3] = {"velocity_x", "velocity_y", "velocity_z"};
    for (int a = 0; a < 3; a++) {
        int n[3] = {t->n[0] + (a == 0), t->n[1] + (a == 1), t->n[2] + (a == 2)};
        float *to = tank_item(f, names[a], UND_F32, (size_t)n[2], (size_t)n[1], (size_t)n[0]);
        for (int z = 0; z < n[2]; z++)
            for (int y = 0; y < n[1]; y++)
                for (int x = 0; x < n[0]; x++)
                    *to++ = t->velocity ? (float)t->velocity(a, tank_place(t, 0, x + (a == 0 ? 0 : 0.5)),
                                                             tank_place(t, 2, z + (a == 2 ? 0 : 0.5)))
                                        : 0;
    }
}

static inline und_frame tank_frame(const tank *t, int number, double time)
{
    und_grid grid = {.dx = t->d[0], .dy = t->d[1], .dz = t->d[2]};
    memcpy(grid.n, t->n, sizeof grid.n);
    memcpy(grid.origin, t->origin, sizeof grid.origin);
    und_frame f = und_frame_empty(number, time, grid);
    size_t nx = (size_t)t->n[0], ny = (size_t)t->n[1], nz = (size_t)t->n[2];
    uint8_t *label = tank_item(&f, "label", UND_U8, nz, ny, nx);
    float *pressure = tank_item(&f, "pressure", UND_F32, nz, ny, nx);
    for (int z = 0; z < t->n[2]; z++)
        for (int y = 0; y < t->n[1]; y++)
            for (int x = 0; x < t->n[0]; x++)
                tank_cell(t, x, y, z, label++, pressure++);
    tank_velocity(t, &f);
    for (int k = 0; k < 2 && t->heights; k++) {
        float *to = tank_item(&f, k ? "ground" : "surface", UND_F32, nz, 0, nx);
        for (int z = 0; z < t->n[2]; z++)
            for (int x = 0; x < t->n[0]; x++) {
                int y = 0;
                while (y < t->n[1] && tank_solid(t, x, y, z))
                    y++;
                double ground = y * t->d[1], top = fmax(ground, t->level);
                *to++ = (float)(t->origin[1] + (k ? ground : top));
            }
    }
    return f;
}

#endif
