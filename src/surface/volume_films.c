/* Films: liquid on a wall that is thinner than phi can show. */
#include "surface/volume_parts.h"

#include <math.h>

static const float NEAR_WALL = 1, LEAST_ROOM = 0.01f;
static const float HELD =
    0.2f; /* m/s: a contact line 2 mm high holds water that is slower (Weber number 1) */

static int axes_of(const und_mac *m)
{
    return m->n[2] > 1 ? 3 : 2;
}

/* On a side of the domain. */
static bool leans_on_side(const und_volume *v, const und_volume_walls *walls, size_t at, float normal[3])
{
    const und_mac *m = &v->mac;
    const uint8_t *inside = v->parts->inside;
    const int32_t half = v->c[at] / 2;
    for (int a = 0; a < axes_of(m); a++) {
        const size_t low = at - (size_t)m->step[a], high = at + (size_t)m->step[a];
        if (m->n[a] < 2)
            continue;
        if (!inside[low] && walls->closed[2 * a] && v->c[high] < half) {
            normal[a] = 1;
            return true;
        }
        if (!inside[high] && walls->closed[2 * a + 1] && v->c[low] < half) {
            normal[a] = -1;
            return true;
        }
    }
    return false;
}

static bool leans_on_solid(const und_volume *v, const und_volume_walls *walls, size_t at, float normal[3])
{
    const und_mac *m = &v->mac;
    const float *d = walls->distance + at;
    float most = 0;
    int best = 0;
    for (int a = 0; a < axes_of(m); a++) {
        normal[a] = m->n[a] > 1 ? 0.5f * (d[m->step[a]] - d[-m->step[a]]) : 0;
        if (fabsf(normal[a]) > fabsf(most)) {
            most = normal[a];
            best = a;
        }
    }
    const size_t step = (size_t)m->step[best];
    size_t next = most > 0 ? at + step : at - step;
    if (v->parts->inside[next] &&
        walls->room[next] < 1) /* of a slanted wall: what lies on it may be there too */
        next = most > 0 ? next + step : next - step;
    return most != 0 && v->parts->inside[next] && v->c[next] < v->c[at] / 2;
}

bool und_volume_leans(const und_volume *v, const und_volume_walls *walls, size_t at, float *distance,
                      float normal[3])
{
    normal[0] = normal[1] = normal[2] = 0;
    *distance = 0.5f;
    if (leans_on_side(v, walls, at, normal))
        return true;
    if (!walls->room || !(walls->distance[at] < NEAR_WALL && walls->room[at] > LEAST_ROOM))
        return false;
    *distance = walls->distance[at];
    return leans_on_solid(v, walls, at, normal);
}

/* Where the surface meets a wall a cell may hold liquid though its middle is in the air: that is no film, phi
 * shows it. */
bool und_volume_is_film(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at,
                        int32_t part)
{
    float distance, normal[3];
    if (!(phi[at] > 0 && v->c[at] > 0) || !und_volume_leans(v, walls, at, &distance, normal))
        return false;
    bool beside = false;
    for (int a = 0; a < 3; a++)
        beside = beside || phi[at + (size_t)v->mac.step[a]] < 0 || phi[at - (size_t)v->mac.step[a]] < 0;
    return part < v->c[at] / 2 || !beside;
}

void und_volume_find_films(und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    const und_mac *m = &v->mac;
    PARALLEL_FOR(und_workers(v->threads, m->count, 1 << 15))
    for (int row = 0; row < und_mac_rows(m); row++) {
        memset(v->film + und_mac_row(m, row), 0, (size_t)m->n[0]);
        UND_VOLUME_ALOFT(v, d->phi, row, at)
        {
            const float part = und_volume_part(v, walls, d->phi, at);
            v->film[at] = und_volume_is_film(v, walls, d->phi, at, und_volume_units(part));
        }
    }
}

/* Whether a film ends here: the next cell has none, or one as thin. */
static bool ends(const und_volume *v, const und_distance *d, size_t next, int32_t pin)
{
    return d->phi[next] > 0 && v->c[next] < pin;
}

/* Whether the face to the next cell is a film's: where liquid runs onto one it is the liquid's. */
static bool is_films(const und_volume *v, size_t at, size_t next)
{
    return v->film[next] || v->c[next] <= v->c[at];
}

/* A film's mean speed on a wall that it sticks to dies down as exp(-3 nu t / h^2), half of it by either of
 * the cells beside a face. */
void und_volume_drag(const und_volume *v, const und_distance *d, float *const u[3], double viscous, float pin)
{
    const und_mac *m = &v->mac;
    const int32_t pinned = und_volume_units(pin);
    for (int row = 0; row < und_mac_rows(m); row++)
        UND_VOLUME_ALOFT(v, d->phi, row, at)
        {
            if (!v->film[at])
                continue;
            const double h = fmax((double)und_volume_cells(v->c[at]), 1e-3);
            const float kept = (float)(1 / (1 + 1.5 * viscous / (h * h)));
            const bool stands = v->c[at] < pinned;
            for (int a = 0; a < axes_of(m); a++) {
                const size_t low = at - (size_t)m->step[a], high = at + (size_t)m->step[a];
                if (is_films(v, at, high))
                    u[a][at] *= stands && fabsf(u[a][at]) < HELD && ends(v, d, high, pinned) ? 0 : kept;
                if (is_films(v, at, low))
                    u[a][low] *= stands && fabsf(u[a][low]) < HELD && ends(v, d, low, pinned) ? 0 : kept;
            }
        }
}
