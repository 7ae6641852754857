/* Grids that source others: which cells and faces they share, listed once. */
#include "liquid/levelset_bands_parts.h"

void und_band_each_row(const und_bands *b, const und_band *band, const int low[3], const int high[3],
                       und_band_row_fn *fn, void *context)
{
    for (int kind = CELLS; kind <= VOLUME; kind++)
        for (int z = low[2] - (kind == 2); und_band_has(b, kind) && z < high[2]; z++)
            for (int y = low[1] - (kind == 1); y < high[1]; y++) {
                const int at[3] = {low[0] - (kind == 0), y, z};
                fn(context, band, kind, at, high[0] - at[0]);
            }
}

/* The part of another grid's band that lies in the domain, as rows. */
typedef struct row_list {
    und_levelset *s;
    int upstream;
    bool counts; /* only */
} row_list;

static void add_row(void *context, const und_band *band, int kind, const int at[3], int count)
{
    const row_list *l = context;
    struct und_levelset_bands *b = l->s->bands;
    const upstream *up = &b->list[l->upstream];
    const int there[3] = {at[0] + up->shift[0], at[1] + up->shift[1], at[2] + up->shift[2]};
    if (!l->counts)
        b->rows[b->row_count] =
            (band_row){l->upstream, kind, at[0], at[1], at[2], count, und_band_place(band, kind, there)};
    b->row_count++;
}

void und_levelset_bands_list_rows(und_levelset *s, bool counts)
{
    struct und_levelset_bands *b = s->bands;
    b->row_count = 0;
    for (int u = b->count - 1; u >= 0; u--) /* the first has the last word */
        for (int i = 0; i < b->list[u].bands.count; i++) {
            const upstream *up = &b->list[u];
            const und_band *band = &up->bands.band[i];
            int low[3], high[3];
            bool any = true;
            for (int a = 0; a < 3; a++) {
                int from = band->low[a] - up->shift[a], to = from + band->n[a];
                low[a] = from > 0 ? from : 0;
                high[a] = to < s->mac.whole[a] ? to : s->mac.whole[a];
                any = any && low[a] < high[a];
            }
            row_list list = {s, u, counts};
            if (any)
                und_band_each_row(&up->bands, band, low, high, add_row, &list);
        }
}

/* Of a row of the domain the cells from the first that may be held to the last. */
static und_span held_span(const struct und_levelset_bands *b, const und_mac *m, int y, int z)
{
    und_span all = {m->whole[0], 0};
    for (int u = 0; u < b->count; u++)
        for (int i = 0; i < b->list[u].bands.count; i++) {
            const und_band *band = &b->list[u].bands.band[i];
            const int *shift = b->list[u].shift, begin = band->low[0] - shift[0];
            const int at[2] = {y + shift[1] - band->low[1], z + shift[2] - band->low[2]};
            if (at[0] < 0 || at[0] >= band->n[1] || at[1] < 0 || at[1] >= band->n[2])
                continue;
            all.begin = begin < all.begin ? begin : all.begin;
            all.end = begin + band->n[0] > all.end ? begin + band->n[0] : all.end;
        }
    return (und_span){all.begin > 0 ? all.begin : 0, all.end < m->whole[0] ? all.end : m->whole[0]};
}

/* Whether a cell of the domain is another grid's too. */
static bool is_held(const struct und_levelset_bands *b, const und_mac *m, const int at[3])
{
    bool held = false;
    for (int a = 0; a < 3; a++)
        if (at[a] < 0 || at[a] >= m->whole[a])
            return false;
    for (int u = 0; u < b->count && !held; u++)
        for (int i = 0; i < b->list[u].bands.count && !held; i++) {
            const und_band *band = &b->list[u].bands.band[i];
            held = true;
            for (int a = 0; a < 3 && held; a++) {
                const int k = at[a] + b->list[u].shift[a] - band->low[a];
                held = k >= 0 && k < band->n[a];
            }
        }
    return held;
}

/* Faces that a held cell has with others of the domain. */
static void list_faces(und_levelset *s, const int at[3])
{
    struct und_levelset_bands *b = s->bands;
    const und_mac *m = &s->mac;
    for (int side = 0; side < 2 * (m->whole[2] > 1 ? 3 : 2); side++) {
        const int axis = side / 2, out = side % 2 ? 1 : -1;
        int beyond[3] = {at[0], at[1], at[2]}, inner[3] = {at[0], at[1], at[2]};
        beyond[axis] += out;
        inner[axis] -= out;
        if (beyond[axis] < 0 || beyond[axis] >= m->whole[axis] || is_held(b, m, beyond))
            continue;
        if (b->border)
            b->border[b->border_count] =
                (border_face){{at[0], at[1], at[2]}, is_held(b, m, inner), axis, out};
        b->border_count++;
    }
}

/* Faces between cells that are held and others of the domain; counts them where there is no list yet. */
void und_levelset_bands_list_border(und_levelset *s)
{
    struct und_levelset_bands *b = s->bands;
    const und_mac *m = &s->mac;
    b->border_count = 0;
    for (int z = 0; z < m->whole[2]; z++)
        for (int y = 0; y < m->whole[1]; y++) {
            const und_span row = held_span(b, m, y, z);
            for (int x = row.begin; x < row.end; x++)
                if (is_held(b, m, (const int[3]){x, y, z}))
                    list_faces(s, (const int[3]){x, y, z});
        }
}

/* A face of another grid's open side, of the cell `there` of that, if this grid has a cell of its own beyond;
 * counts it where there is no list yet. */
static void add_arrival(und_levelset *s, int which, const und_band *band, const int there[3])
{
    struct und_levelset_bands *b = s->bands;
    const und_mac *m = &s->mac;
    const int axis = band->side / 2, up = band->side % 2;
    arrival a = {.upstream = which, .axis = axis, .out = up ? 1 : -1};
    for (int k = 0; k < 3; k++) {
        a.at[k] = there[k] - b->list[which].shift[k] + (k == axis ? 2 * up - 1 : 0);
        if (a.at[k] < 0 || a.at[k] >= m->whole[k])
            return;
    }
    a.from = band->gone + UND_BAND_GONE * und_band_face(band, there);
    if (is_held(b, m, a.at))
        return;
    if (b->arrivals)
        b->arrivals[b->arrival_count] = a;
    b->arrival_count++;
}

void und_levelset_bands_list_arrivals(und_levelset *s)
{
    struct und_levelset_bands *b = s->bands;
    b->arrival_count = 0;
    for (int u = 0; u < b->count; u++)
        for (int i = 0; i < b->list[u].bands.count; i++) {
            const und_band *band = &b->list[u].bands.band[i];
            int low[3], high[3];
            for (int a = 0; a < 3; a++) {
                low[a] = band->low[a];
                high[a] = band->low[a] + band->n[a];
            }
            if (band->side % 2)
                low[band->side / 2] = high[band->side / 2] - 1;
            else
                high[band->side / 2] = low[band->side / 2] + 1;
            for (int z = low[2]; z < high[2]; z++)
                for (int y = low[1]; y < high[1]; y++)
                    for (int x = low[0]; x < high[0]; x++)
                        add_arrival(s, u, band, (const int[3]){x, y, z});
        }
}
