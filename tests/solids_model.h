/* Solids on a grid, and what can be reached over the faces that they leave open. */
#ifndef UND_TESTS_SOLIDS_MODEL_H
#define UND_TESTS_SOLIDS_MODEL_H

#include "tests/test.h"

#include "flow/solids.h"
#include "geom/motion.h"
#include "geom/shape.h"

static inline und_mac cube(int n)
{
    return und_mac_make((const int[3]){n, n, n}, (const double[3]){1.0 / n, 1.0 / n, 1.0 / n},
                        (const double[3]){0, 0, 0});
}

static inline und_shape *make(const und_shape *like)
{
    und_error err;
    und_shape *shape = und_shape_create(like, &err);
    assert_non_null(shape);
    return shape;
}

static inline und_solids open_one(const und_mac *mac, const und_obstacle_def *def, const bool *sides,
                                  int threads)
{
    und_error err;
    und_solids s;
    assert_int_equal(und_solids_open(&s, mac, def, 1, sides, 0, threads, &err), UND_OK);
    return s;
}

/* Spreads marks over open faces from the cells that have one. */
static inline void flood(const und_solids *s, uint8_t *mark)
{
    const und_mac *m = &s->mac;
    size_t *stack = malloc(m->count * sizeof *stack), count = 0;
    assert_non_null(stack);
    for (size_t i = 0; i < m->count; i++)
        if (mark[i])
            stack[count++] = i;
    while (count > 0) {
        size_t at = stack[--count];
        for (int way = 0; way < 6; way++) {
            size_t step = (size_t)m->step[way / 2], next = way % 2 ? at + step : at - step;
            if (s->open[way / 2][way % 2 ? at : next] > 0 && !mark[next]) {
                mark[next] = 1;
                stack[count++] = next;
            }
        }
    }
    free(stack);
}

/* Cells that were before the plate and are reached from those behind it. */
static inline long overtaken(const und_solids *s, const und_pose *from, double half)
{
    const und_mac *m = &s->mac;
    uint8_t *mark = calloc(m->count, 1);
    long count = 0;
    assert_non_null(mark);
    for (int pass = 0; pass < 2; pass++) {
        for (int z = 0; z < m->n[2]; z++)
            for (int y = 0; y < m->n[1]; y++)
                for (int x = 0; x < m->n[0]; x++) {
                    und_vec3 p =
                        und_vec(und_mac_middle(m, 0, x), und_mac_middle(m, 1, y), und_mac_middle(m, 2, z));
                    double side = und_pose_local(from, p).x;
                    if (pass == 0 && side < -half)
                        mark[und_mac_at(m, x, y, z)] = 1;
                    count += pass == 1 && side > half && mark[und_mac_at(m, x, y, z)];
                }
        if (pass == 0)
            flood(s, mark);
    }
    free(mark);
    return count;
}

#endif
