/* Drops in the air separate over time (Foster & Metaxas 1996, section 4.3): one becomes two of half its
 * volume, that move apart. */
#include "base/maths.h"
#include "base/parallel.h"
#include "base/random.h"
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

/* Lists the drops of a chunk that split, from landed[first] on; returns how many. */
static int list_splitting(const und_spray *s, int chunk, double chance)
{
    int first = chunk * CHUNK, end = s->count - first < CHUNK ? s->count : first + CHUNK, found = 0;
    for (int i = first; i < end; i++)
        if (und_random(s->seed, STREAM_SPLIT, moment(s, i)) < chance && !is_whole(s, i))
            s->landed[first + found++] = i;
    return found;
}

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
    int count = s->count, chunks = count / CHUNK + (count % CHUNK != 0);
    double chance = -und_expm1(-s->split * dt);
    PARALLEL_FOR(chunks < 4 ? 1 : s->threads)
    for (int c = 0; c < chunks; c++)
        s->chunk_landed[c] = list_splitting(s, c, chance);
    for (int c = 0; c < chunks; c++)
        for (int k = 0; k < s->chunk_landed[c]; k++)
            split(s, s->landed[c * CHUNK + k]);
}
