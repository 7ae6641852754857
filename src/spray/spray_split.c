/* Drops in the air separate over time (Foster & Metaxas 1996, section 4.3): one becomes two of half its
 * volume, that move apart. */
#include "base/maths.h"
#include "base/random.h"
#include "grid/pass.h"
#include "spray/sheet.h"

#include <math.h>
#include <string.h>

enum { STREAM_SPLIT = 231, STREAM_APART };
enum { CHUNK = 2048 };
static const double APART = 0.1;     /* m/s of the two relative to each other, at most, over their speed */
static const float SMALLEST = 1e-4f; /* m; the tension of its surface holds a smaller drop together */

/* A number of the drop that no other has, now: it is older in every step. */
static uint64_t moment(const und_spray *s, int i)
{
    uint32_t age;
    memcpy(&age, &s->age[i], sizeof age);
    return (uint64_t)(uint32_t)s->id[i] << 32 | age;
}

static bool is_whole(const und_spray *s, int i)
{
    return s->radius[i] < SMALLEST || (s->sheets && s->sheets->node[i] != UND_SHEET_FREE);
}

typedef struct splitting {
    const und_spray *s;
    double chance;
} splitting;

/* Lists the drops of a chunk that split, from landed[first] on, and how many. */
static void list_splitting(const splitting *t, und_place p)
{
    const und_spray *s = t->s;
    int found = 0;
    for (int i = (int)p.at; i < (int)p.at + p.x; i++)
        if (und_random(s->seed, STREAM_SPLIT, moment(s, i)) < t->chance && !is_whole(s, i))
            s->landed[(int)p.at + found++] = i;
    s->chunk_landed[p.y] = found;
}
UND_KERNEL(list_splitting, splitting, UND_EACH_BLOCK)

static void split(und_spray *s, int i)
{
    double place[3], speed[2][3], size = 0;
    float radius = (float)((double)s->radius[i] / und_cbrt(2));
    for (int a = 0; a < 3; a++)
        size += (double)s->speed[a][i] * (double)s->speed[a][i];
    for (int a = 0; a < 3; a++) {
        double part = 2 * und_random(s->seed, STREAM_APART + (uint64_t)a, moment(s, i)) - 1;
        place[a] = (double)s->place[a][i];
        for (int k = 0; k < 2; k++)
            speed[k][a] = (double)s->speed[a][i] + (k ? -0.5 : 0.5) * APART * sqrt(size) * part;
    }
    if (!und_spray_add(s, place, speed[1], radius))
        return;
    int other = s->count - 1;
    s->rounding += und_spray_volume(s->radius[i]) - 2 * und_spray_volume(radius);
    s->radius[i] = radius;
    s->age[other] = s->age[i];
    for (int a = 0; a < 3; a++)
        s->speed[a][i] = (float)speed[0][a];
    if (s->sheets) {
        s->sheets->node[other] = UND_SHEET_FREE;
        s->sheets->share[other] = 0;
    }
}

void und_spray_split(und_spray *s, double dt)
{
    const splitting args = {s, -und_expm1(-s->split * dt)};
    const und_set all = und_set_list(s->place[0], s->count, CHUNK, 4);
    const und_device device = {.threads = s->threads};
    und_pass(&device, list_splitting, &args, &all);
    for (int c = 0; c < all.blocks; c++)
        for (int k = 0; k < s->chunk_landed[c]; k++)
            split(s, s->landed[c * CHUNK + k]);
}
