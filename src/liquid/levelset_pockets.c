/* Pockets of free liquid that are enclosed by walls and by cells whose velocities are given, without any air:
 * what flows in need not flow out, and no pressure could mend it.  They are found by a flood fill, and their
 * velocities are made from those around them (Rasmussen et al. 2004, 5.6).
 *
 * The flood goes over stretches of rows.  The velocities are brought inwards from what is given and then
 * smoothed, without a memory of what they were: so they never exceed what is around them. */
#include "base/status.h"
#include "grid/field.h"
#include "liquid/levelset_state.h"

#include <stdlib.h>

enum { SMOOTHINGS = 4 };

/* A stretch of free cells of a row. */
typedef struct stretch {
    int32_t begin, end, parent;
    bool air, held; /* its part of the liquid touches some */
} stretch;

struct und_levelset_pockets {
    stretch *list;  /* row by row */
    int32_t *first; /* [rows + 1] */
    int count;
    und_mask free, cells;
    bool any;
    int32_t *face[3]; /* within them */
    int faces[3];
    uint8_t *what[3]; /* each face is, in and beside them */
};

enum { AT_STRETCHES = UND_AT_OWN, AT_ROW_ENDS };

#define FIELD(member, at) UND_FIELD(struct und_levelset_pockets, member, at, .sparse = true)

static const und_field fields[] = {
    FIELD(list, AT_STRETCHES),      UND_FIELD(struct und_levelset_pockets, first, AT_ROW_ENDS),
    FIELD(face[0], UND_AT_FACES_X), FIELD(face[1], UND_AT_FACES_Y),
    FIELD(face[2], UND_AT_FACES_Z), FIELD(what[0], UND_AT_FACES_X),
    FIELD(what[1], UND_AT_FACES_Y), FIELD(what[2], UND_AT_FACES_Z)};
enum { FIELDS = sizeof fields / sizeof *fields };

und_status und_levelset_pockets_open(und_levelset *s, und_error *err)
{
    static const char *const what = "pockets";
    const und_mac *m = &s->mac;
    struct und_levelset_pockets *p = s->pockets = und_alloc(1, sizeof *p, what, err);
    const size_t rows = (size_t)und_mac_rows(m), own[] = {rows * ((size_t)m->n[0] / 2 + 1), rows + 1};
    return !p || und_field_open_all(p, fields, FIELDS, &(und_field_room){.mac = m, .own = own}, what, err) ||
                   und_mask_open(&p->free, m, what, err) || und_mask_open(&p->cells, m, what, err)
               ? err->status
               : UND_OK;
}

void und_levelset_pockets_close(und_levelset *s)
{
    struct und_levelset_pockets *p = s->pockets;
    if (!p)
        return;
    und_field_close_all(p, fields, FIELDS);
    und_mask_close(&p->free);
    und_mask_close(&p->cells);
    free(p);
}

/* ---- The flood ---- */

static int32_t root_of(stretch *list, int32_t i)
{
    while (list[i].parent != i) {
        list[i].parent = list[list[i].parent].parent;
        i = list[i].parent;
    }
    return i;
}

static void join(stretch *list, int32_t a, int32_t b)
{
    a = root_of(list, a);
    b = root_of(list, b);
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    list[high].parent = low;
    list[low].air |= list[high].air;
    list[low].held |= list[high].held;
}

/* Word w of a row moved by a cell: that of the cells after, or before. */
static uint64_t word_after(const uint64_t *row, int w, int words)
{
    return row[w] >> 1 | (w + 1 < words ? row[w + 1] << 63 : 0);
}
static uint64_t word_before(const uint64_t *row, int w)
{
    return row[w] << 1 | (w > 0 ? row[w - 1] >> 63 : 0);
}

/* Cells of word w of a row that open faces join to air, and to held cells. */
static void look(const und_levelset *s, const und_mask *held, int y, int z, int w, uint64_t *air,
                 uint64_t *bound)
{
    const und_mask *liquid = &s->flow.liquid, *flows = s->flow.flows;
    const uint64_t *here = und_mask_row(liquid, y, z), *kept = und_mask_row(held, y, z);
    const uint64_t *across = und_mask_row(&flows[0], y, z);
    uint64_t high = across[w], low = word_before(across, w);
    *air = (high & ~word_after(here, w, liquid->words)) | (low & ~word_before(here, w));
    *bound = (high & word_after(kept, w, liquid->words)) | (low & word_before(kept, w));
    for (int axis = 1; axis < (s->mac.n[2] == 1 ? 2 : 3); axis++)
        for (int side = -1; side <= 1; side += 2) {
            int dy = axis == 1 ? side : 0, dz = axis == 2 ? side : 0;
            uint64_t open = side > 0 ? und_mask_row(&flows[axis], y, z)[w]
                                     : und_mask_row(&flows[axis], y + dy, z + dz)[w];
            *air |= open & ~und_mask_row(liquid, y + dy, z + dz)[w];
            *bound |= open & und_mask_row(held, y + dy, z + dz)[w];
        }
}

/* Bits of cells begin to end - 1 in word w. */
static uint64_t bits_between(int begin, int end, int w)
{
    int from = begin + 1 - 64 * w, to = end + 1 - 64 * w;
    uint64_t all = ~UINT64_C(0), first = from <= 0 ? all : from < 64 ? all << from : 0;
    return to >= 64 ? first : to <= 0 ? 0 : first & ~(all << to);
}

static void add_stretch(struct und_levelset_pockets *p, int begin, int end)
{
    p->list[p->count] = (stretch){begin, end, p->count, false, false};
    p->count++;
}

static void find_stretches(und_levelset *s, const und_mask *held)
{
    struct und_levelset_pockets *p = s->pockets;
    const und_mac *m = &s->mac;
    p->count = 0;
    for (int row = 0; row < und_mac_rows(m); row++) {
        int y = row % m->n[1], z = row / m->n[1];
        p->first[row] = p->count;
        for (int begin, end = -1; und_mask_stretch(&p->free, y, z, end, &begin, &end);)
            add_stretch(p, begin, end);
        for (int w = 0; w < p->free.words && p->first[row] < p->count; w++) {
            uint64_t air, bound;
            look(s, held, y, z, w, &air, &bound);
            for (int32_t i = p->first[row]; i < p->count && (air | bound); i++) {
                uint64_t bits = bits_between(p->list[i].begin, p->list[i].end, w);
                p->list[i].air |= (air & bits) != 0;
                p->list[i].held |= (bound & bits) != 0;
            }
        }
    }
    p->first[und_mac_rows(m)] = p->count;
}

/* Stretches of a row with those of the row before it along an axis, where a face between them is open.  Faces
 * within a stretch that a thin wall shuts join what is on both sides of it: then a pocket may be found less
 * isolated than it is, and stays in the solve. */
static void join_rows(und_levelset *s, int axis, int y, int z)
{
    struct und_levelset_pockets *p = s->pockets;
    const int n = s->mac.n[1], row = y + n * z, before = (y - (axis == 1)) + n * (z - (axis == 2));
    int32_t k = p->first[before];
    for (int32_t i = p->first[row]; i < p->first[row + 1]; i++) {
        while (k < p->first[before + 1] && p->list[k].end <= p->list[i].begin)
            k++;
        for (int32_t j = k; j < p->first[before + 1] && p->list[j].begin < p->list[i].end; j++) {
            int from = p->list[i].begin > p->list[j].begin ? p->list[i].begin : p->list[j].begin;
            int to = p->list[i].end < p->list[j].end ? p->list[i].end : p->list[j].end;
            bool open = false;
            for (int x = from; x < to && !open; x++)
                open = und_mask_has(&s->flow.flows[axis], x, y - (axis == 1), z - (axis == 2));
            if (open)
                join(p->list, i, j);
        }
    }
}

/* A face within pockets whose velocity is to be made, and what there is beside such. */
enum { NOTHING, TO_DO, MADE, GIVEN, WALL };

static void list_face(und_levelset *s, const und_mask *held, int a, int x, int y, int z)
{
    struct und_levelset_pockets *p = s->pockets;
    size_t i = und_mac_at(&s->mac, x, y, z);
    if (!und_mask_has(&s->flow.flows[a], x, y, z) ||
        und_mask_has(held, x + (a == 0), y + (a == 1), z + (a == 2)) || und_mask_has(held, x, y, z))
        return;
    p->what[a][i] = TO_DO;
    p->face[a][p->faces[a]++] = (int32_t)i;
}

/* The faces of the pockets' cells that nobody gives: high ones, as beyond a pocket's low ones is either more
 * of it or what is held. */
static void list_faces(und_levelset *s, const und_mask *held)
{
    struct und_levelset_pockets *p = s->pockets;
    const und_mac *m = &s->mac;
    for (int a = 0; a < (m->n[2] == 1 ? 2 : 3); a++) {
        p->faces[a] = 0;
        for (int row = 0; row < und_mac_rows(m); row++) {
            int y = row % m->n[1], z = row / m->n[1];
            for (int begin, end = -1; und_mask_stretch(&p->cells, y, z, end, &begin, &end);)
                for (int x = begin; x < end; x++)
                    list_face(s, held, a, x, y, z);
        }
    }
}

/* What is beside the faces: velocities that are given, and walls. */
static void look_around(und_levelset *s, int a)
{
    struct und_levelset_pockets *p = s->pockets;
    const und_mac *m = &s->mac;
    for (int f = 0; f < p->faces[a]; f++)
        for (int side = 0; side < (m->n[2] == 1 ? 4 : 6); side++) {
            size_t i = (size_t)(p->face[a][f] + (side % 2 ? 1 : -1) * m->step[side / 2]);
            if (p->what[a][i] == NOTHING)
                p->what[a][i] = s->solids.open[a][i] > 0 ? GIVEN : WALL;
        }
}

static void forget(und_levelset *s)
{
    struct und_levelset_pockets *p = s->pockets;
    for (int a = 0; a < 3; a++) {
        for (int f = 0; f < p->faces[a]; f++) {
            p->what[a][p->face[a][f]] = NOTHING;
            for (int side = 0; side < (s->mac.n[2] == 1 ? 4 : 6); side++)
                p->what[a][p->face[a][f] + (side % 2 ? 1 : -1) * s->mac.step[side / 2]] = NOTHING;
        }
        p->faces[a] = 0;
    }
}

const und_mask *und_levelset_pockets_find(und_levelset *s, const und_mask *held)
{
    struct und_levelset_pockets *p = s->pockets;
    const und_mac *m = &s->mac;
    if (p->any) {
        und_mask_clear(&p->cells);
        forget(s);
    }
    p->any = false;
    if (!held)
        return NULL;
    und_mask_copy(&s->flow.liquid, &p->free);
    und_mask_remove(&p->free, held);
    find_stretches(s, held);
    for (int row = 0; row < und_mac_rows(m); row++) {
        int y = row % m->n[1], z = row / m->n[1];
        if (y > 0)
            join_rows(s, 1, y, z);
        if (z > 0)
            join_rows(s, 2, y, z);
    }
    for (int row = 0; row < und_mac_rows(m); row++)
        for (int32_t i = p->first[row]; i < p->first[row + 1]; i++) {
            const stretch *root = &p->list[root_of(p->list, i)];
            if (root->air || !root->held)
                continue;
            p->any = true;
            for (int x = p->list[i].begin; x < p->list[i].end; x++)
                und_mask_add(&p->cells, x, row % m->n[1], row / m->n[1]);
        }
    if (p->any)
        list_faces(s, held);
    for (int a = 0; a < 3; a++)
        look_around(s, a);
    return p->any ? &p->cells : NULL;
}

/* ---- Velocities ---- */

/* The mean of what is known around a face; false where nothing is.  A wall has a velocity along its normal;
 * liquid slips past it. */
static bool mean_around(const und_levelset *s, int a, size_t i, float *mean)
{
    const struct und_levelset_pockets *p = s->pockets;
    float sum = 0;
    int count = 0;
    for (int side = 0; side < (s->mac.n[2] == 1 ? 4 : 6); side++) {
        size_t j = (size_t)((ptrdiff_t)i + (side % 2 ? 1 : -1) * s->mac.step[side / 2]);
        bool wall = p->what[a][j] == WALL;
        if (p->what[a][j] == TO_DO || (wall && side / 2 != a))
            continue;
        sum += wall ? s->solids.u[a][j] : s->flow.u[a][j];
        count++;
    }
    *mean = count > 0 ? sum / (float)count : 0;
    return count > 0;
}

/* Through the faces in one order or the other; how many have no velocity yet. */
static int sweep(und_levelset *s, int a, bool back)
{
    struct und_levelset_pockets *p = s->pockets;
    int without = 0;
    for (int k = 0; k < p->faces[a]; k++) {
        size_t i = (size_t)p->face[a][back ? p->faces[a] - 1 - k : k];
        bool made = mean_around(s, a, i, &s->flow.u[a][i]);
        p->what[a][i] = made ? MADE : TO_DO;
        without += !made;
    }
    return without;
}

void und_levelset_pockets_give(und_levelset *s)
{
    struct und_levelset_pockets *p = s->pockets;
    for (int a = 0; a < 3; a++) {
        int without = p->faces[a], before = without + 1, sweeps = 0;
        for (int k = 0; k < p->faces[a]; k++)
            p->what[a][p->face[a][k]] = TO_DO;
        while (without < before || sweeps % 2) { /* as long as either way brings more */
            before = without;
            without = sweep(s, a, sweeps++ % 2 == 1);
        }
        for (int k = 0; k < SMOOTHINGS; k++)
            sweep(s, a, k % 2 == 0);
    }
}
