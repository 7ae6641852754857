/* The editor of floating bodies: the list of them, the mouse, and what frames show. */
#include "base/status.h"
#include "view/editor_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool und_editor_fits(const und_frame_player *player)
{
    const und_scene_view *scene = und_frame_player_scene(player);
    return scene && scene->model == UND_MODEL_CELLS && scene->cells.keep_flow;
}

und_buoy und_buoy_default(void)
{
    const und_body_def usual = und_body_def_default();
    und_buoy b = {.size = {0.1, 0.1, 0.1}, .density = 400, .drag = usual.drag, .bounce = usual.bounce};
    b.friction = usual.friction;
    memcpy(b.color, usual.color, sizeof b.color);
    return b;
}

double und_buoy_radius(const und_buoy *b)
{
    const double *s = b->size;
    if (b->kind == UND_BUOY_BOX)
        return 0.5 * sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
    if (b->kind == UND_BUOY_CYLINDER)
        return 0.5 * hypot(s[0], s[1]);
    return 0.5 * (b->kind == UND_BUOY_EGG ? fmax(s[0], fmax(s[1], s[2])) : s[0]);
}

void und_editor_say(und_editor *e, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(e->note, sizeof e->note, format, list);
    va_end(list);
    e->notes++;
}

const char *und_editor_note(const und_editor *e, int *number)
{
    *number = e->notes;
    return e->note;
}

/* ---- create ---- */

/* What is dropped at first: a tenth of the domain's smaller side, painted so that it can be seen. */
static void look_around(und_editor *e, const und_scene_view *scene)
{
    double smallest = INFINITY;
    for (int a = 0; a < 3; a++) {
        e->low[a] = scene->cells.origin[a];
        e->high[a] = e->low[a] + scene->cells.n[a] * scene->cells.cell[a];
    }
    e->flat = scene->cells.n[2] == 1;
    for (int a = 0; a < (e->flat ? 2 : 3); a++)
        smallest = fmin(smallest, e->high[a] - e->low[a]);
    e->model = und_buoy_default();
    for (int a = 0; a < 3; a++)
        e->model.size[a] = 0.12 * smallest;
}

und_editor *und_editor_create(const und_frame_player *player, und_error *err)
{
    const und_floating_bodies_def usual = und_floating_bodies_def_default();
    const und_scene_view *scene = und_frame_player_scene(player);
    und_editor *e = und_alloc(1, sizeof *e, "the editor", err);
    if (!e)
        return NULL;
    e->player = player;
    e->selected = -1;
    e->stretch = 1;
    e->damping = usual.damping;
    e->nodes = usual.nodes;
    e->dressed_row = -1;
    look_around(e, scene);
    snprintf(e->save_path, sizeof e->save_path, "%.200s-bodies.lua", scene->name);
    snprintf(e->load_path, sizeof e->load_path, "%s", e->save_path);
    und_cache_info info = und_frame_player_info(player);
    e->cached_rows = info.row_count;
    e->cached_last = info.row_count > 0 ? info.rows[info.row_count - 1] : (und_cache_row){0};
    und_status status = und_floater_open(&e->floater, player, err);
    if (status == UND_OK && info.bodies_text && info.pass && strcmp(info.pass, "float") == 0) {
        und_error why;
        if (und_editor_read(e, info.bodies_text, info.bodies_path, &info, &why) == UND_OK)
            und_editor_changed(e);
        else
            und_editor_say(e, "%.500s", why.text);
    }
    if (status != UND_OK) {
        und_editor_destroy(e);
        return NULL;
    }
    return e;
}

void und_editor_destroy(und_editor *e)
{
    if (!e)
        return;
    und_floater_close(&e->floater);
    und_frame_clear(&e->dressed);
    free(e->buoys);
    free(e->fixed);
    free(e->fixed_path);
    free(e);
}

/* ---- the list ---- */

void und_editor_changed(und_editor *e)
{
    und_error err;
    char *text = e->count + e->fixed_count > 0 ? und_editor_text(e, &err) : NULL;
    und_floater_start(&e->floater, text, e->fixed_path ? e->fixed_path : e->save_path, e->fixed_kept);
}

int und_editor_count(const und_editor *e)
{
    return e->count;
}
und_buoy und_editor_get(const und_editor *e, int i)
{
    return e->buoys[i];
}

int und_editor_add(und_editor *e, const und_buoy *buoy)
{
    if (e->count >= UND_BUOYS)
        return -1;
    if (e->count == e->room) {
        int room = 2 * e->room + 8;
        und_buoy *more = realloc(e->buoys, (size_t)room * sizeof *more);
        if (!more)
            return -1;
        e->buoys = more;
        e->room = room;
    }
    e->buoys[e->count] = *buoy;
    e->selected = e->count++;
    und_editor_changed(e);
    return e->selected;
}

void und_editor_set(und_editor *e, int i, const und_buoy *buoy)
{
    e->buoys[i] = *buoy;
    und_editor_changed(e);
}

void und_editor_remove(und_editor *e, int i)
{
    memmove(e->buoys + i, e->buoys + i + 1, (size_t)(e->count - i - 1) * sizeof *e->buoys);
    e->count--;
    e->selected = -1;
    e->moves = false;
    und_editor_changed(e);
}

int und_editor_fixed(const und_editor *e)
{
    return e->fixed_count;
}

void und_editor_drop_fixed(und_editor *e)
{
    free(e->fixed);
    free(e->fixed_path);
    e->fixed = e->fixed_path = NULL;
    e->fixed_kept = false;
    e->fixed_count = 0;
    und_editor_changed(e);
}

/* ---- frames ---- */

void und_editor_follow(und_editor *e)
{
    und_cache_info info = und_frame_player_info(e->player);
    und_cache_row last = info.row_count > 0 ? info.rows[info.row_count - 1] : (und_cache_row){0};
    if (info.row_count == e->cached_rows && last.frame == e->cached_last.frame &&
        last.file_hash == e->cached_last.file_hash)
        return;
    e->cached_rows = info.row_count;
    e->cached_last = last;
    und_floater_look(&e->floater);
}

const und_frame *und_editor_dress(und_editor *e, const und_frame *frame)
{
    und_floater *f = &e->floater;
    und_error err;
    und_status status = UND_OK;
    und_editor_follow(e);
    e->shown = frame->number;
    e->shown_time = isfinite(frame->time) ? frame->time : 0;
    und_frame_clear(&e->dressed);
    e->dressed = und_frame_empty(frame->number, frame->time, frame->grid);
    for (int i = 0; i < frame->count && status == UND_OK; i++)
        if (strncmp(frame->items[i].name, "bodies/", 7) != 0)
            status = und_frame_borrow_item(&e->dressed, &frame->items[i], &err);
    pthread_mutex_lock(&f->lock);
    int wanted = und_floater_row(f, frame->number);
    e->at_first = wanted == 0;
    int row = wanted < f->count ? wanted : f->count - 1;
    bool ours = f->made > 0; /* as long as nothing was done, bodies of the cache are shown */
    und_frame meshes = und_frame_empty(0, 0, frame->grid);
    for (int i = 0; row > 0 && i < f->bodies[0].count && status == UND_OK; i++)
        if (f->bodies[0].items[i].is_static)
            status = und_frame_borrow_item(&meshes, &f->bodies[0].items[i], &err);
    if (row >= 0 && status == UND_OK)
        status = und_frame_copy(&meshes, &e->dressed, &err);
    if (row >= 0 && status == UND_OK)
        status = und_frame_copy(&f->bodies[row], &e->dressed, &err);
    e->dressed_made = f->made;
    e->dressed_row = row;
    pthread_mutex_unlock(&f->lock);
    und_frame_clear(&meshes);
    return status == UND_OK && ours ? &e->dressed : frame;
}

bool und_editor_has_news(und_editor *e)
{
    und_floater *f = &e->floater;
    pthread_mutex_lock(&f->lock);
    int wanted = und_floater_row(f, e->shown), row = wanted < f->count ? wanted : f->count - 1;
    bool news = f->made != e->dressed_made || row != e->dressed_row;
    pthread_mutex_unlock(&f->lock);
    return news;
}

void und_editor_settle(und_editor *e)
{
    und_floater *f = &e->floater;
    pthread_mutex_lock(&f->lock);
    while (f->looked != f->look || (f->wanted > 0 && !(f->made == f->wanted && f->finished)))
        pthread_cond_wait(&f->done, &f->lock);
    pthread_mutex_unlock(&f->lock);
}

void und_editor_progress(und_editor *e, int *done, int *all)
{
    und_floater *f = &e->floater;
    pthread_mutex_lock(&f->lock);
    *done = f->wanted > 0 && f->made == f->wanted ? f->count : 0;
    *all = e->count + e->fixed_count > 0 ? f->rows : 0;
    pthread_mutex_unlock(&f->lock);
}

/* Degrees about x, then y, then z, of a quaternion (w first). */
static void turn_of(const float q[4], double turn[3])
{
    double w = (double)q[0], x = (double)q[1], y = (double)q[2], z = (double)q[3];
    double sine = fmin(fmax(2 * (w * y - z * x), -1), 1), degrees = 180 / M_PI;
    turn[0] = degrees * atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y));
    turn[1] = degrees * asin(sine);
    turn[2] = degrees * atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
}

/* Where a body is in the frame shown; false: it is not known yet. */
static bool pose_of(const und_editor *e, int i, double place[3], double turn[3])
{
    const und_item *at = und_frame_find(&e->dressed, "bodies/position"),
                   *way = und_frame_find(&e->dressed, "bodies/rotation");
    size_t which = (size_t)(e->fixed_count + i);
    if (!at || !way || at->dim[0] <= which || way->dim[0] <= which)
        return false;
    for (int a = 0; a < 3; a++)
        place[a] = (double)((const float *)at->data)[3 * which + (size_t)a];
    if (turn)
        turn_of((const float *)way->data + 4 * which, turn);
    return true;
}

/* ---- the mouse ---- */

void und_editor_stretch(und_editor *e, double factor)
{
    e->stretch = factor;
}

/* Where the ray through a place of the window meets the plane through a point that faces the viewer. */
static bool meet_plane(const und_editor *e, const und_lens *lens, double x, double y, const double through[3],
                       double point[3])
{
    const double stretch[3] = {1, e->stretch, 1};
    double origin[3], along[3], to = 0, per = 0;
    und_lens_ray(lens, x, y, origin, along);
    for (int a = 0; a < 3; a++) {
        to += (stretch[a] * through[a] - origin[a]) * (double)lens->forward[a];
        per += along[a] * (double)lens->forward[a];
    }
    if (!(per > 1e-9) || !(to > 0))
        return false;
    for (int a = 0; a < 3; a++)
        point[a] = (origin[a] + to / per * along[a]) / stretch[a];
    return true;
}

/* A body's place in the window, and how large it is there, pixels. */
static bool seen_at(const und_editor *e, int i, const und_lens *lens, double at[2], double *radius)
{
    double place[3], side[3], beside[2];
    if (!pose_of(e, i, place, NULL))
        memcpy(place, e->buoys[i].at, sizeof place);
    place[1] *= e->stretch;
    for (int a = 0; a < 3; a++)
        side[a] = place[a] + und_buoy_radius(&e->buoys[i]) * (double)lens->right[a];
    if (!und_lens_project(lens, place, &at[0], &at[1]) ||
        !und_lens_project(lens, side, &beside[0], &beside[1]))
        return false;
    *radius = hypot(beside[0] - at[0], beside[1] - at[1]);
    return true;
}

/* The body under the mouse: of several the one whose middle is nearest to it. */
static int find_under(const und_editor *e, const und_lens *lens, double x, double y)
{
    const double least = 8; /* pixels that even the smallest is wide to the mouse */
    int best = -1;
    double nearest = INFINITY;
    for (int i = 0; i < e->count; i++) {
        double at[2], radius, away;
        if (!seen_at(e, i, lens, at, &radius))
            continue;
        away = hypot(x - at[0], y - at[1]);
        if (away <= fmax(radius, least) && away < nearest) {
            nearest = away;
            best = i;
        }
    }
    return best;
}

/* A place in the domain, over its floor, in few digits. */
static void keep_inside(const und_editor *e, double at[3])
{
    double fine = pow(10, 5 - floor(log10(fmax(e->high[0] - e->low[0], 1e-9))));
    for (int a = 0; a < 3; a++) {
        at[a] = round(at[a] * fine) / fine;
        at[a] = fmax(at[a], e->low[a]);
        if (a != 1)
            at[a] = fmin(at[a], e->high[a]);
    }
    if (e->flat)
        at[2] = 0.5 * (e->low[2] + e->high[2]);
}

/* From now on the mouse holds it: it is let go at the moment that is shown. */
static void grab(und_editor *e, int i, const und_lens *lens, double x, double y)
{
    double place[3], turn[3], point[3];
    e->selected = i;
    e->moves = true;
    memset(e->grip, 0, sizeof e->grip);
    if (!pose_of(e, i, place, turn) || !meet_plane(e, lens, x, y, place, point))
        return;
    for (int a = 0; a < 3; a++)
        e->grip[a] = place[a] - point[a];
}

static void drag(und_editor *e, const und_lens *lens, double x, double y)
{
    und_buoy b = e->buoys[e->selected];
    double place[3], turn[3], point[3];
    if (!pose_of(e, e->selected, place, turn)) {
        memcpy(place, b.at, sizeof place);
        memcpy(turn, b.turn, sizeof turn);
    }
    if (!meet_plane(e, lens, x, y, place, point))
        return;
    for (int a = 0; a < 3; a++)
        b.at[a] = point[a] + e->grip[a];
    keep_inside(e, b.at);
    double release = e->at_first ? 0 : e->shown_time;
    if (release != b.release) /* as it is turned at that moment */
        memcpy(b.turn, turn, sizeof b.turn);
    b.release = release;
    und_editor_set(e, e->selected, &b);
}

static bool drop(und_editor *e, const und_event *event, const und_lens *lens, const und_painter *painter)
{
    double origin[3], along[3];
    und_buoy b = e->model;
    und_lens_ray(lens, event->x, event->y, origin, along);
    if (!painter || !painter->class->pick || !painter->class->pick(painter, origin, along, b.at))
        return false;
    b.kind = (und_buoy_kind)(e->tool - 1);
    keep_inside(e, b.at);
    if (!e->painted)
        und_buoy_paint(&b, e->count);
    b.release = e->at_first ? 0 : e->shown_time;
    if (und_editor_add(e, &b) < 0)
        und_editor_say(e, "no more than %d bodies", UND_BUOYS);
    else {
        e->moves = true;
        memset(e->grip, 0, sizeof e->grip);
    }
    return true;
}

bool und_editor_event(und_editor *e, const und_event *event, const und_lens *lens, const und_painter *painter)
{
    bool left = event->kind == UND_EVENT_BUTTON && event->button == UND_BUTTON_LEFT;
    if (!e->open)
        return false;
    if (e->moves && left && !event->down) {
        e->moves = false;
        return true;
    }
    if (e->moves && event->kind == UND_EVENT_MOVE) {
        drag(e, lens, event->x, event->y);
        return true;
    }
    if (!left || !event->down || (event->mods & (UND_MOD_SHIFT | UND_MOD_ALT)) ||
        !und_lens_holds(lens, event->x, event->y))
        return false;
    int under = find_under(e, lens, event->x, event->y);
    if (under >= 0) {
        grab(e, under, lens, event->x, event->y);
        return true;
    }
    e->selected = -1;
    return e->tool > 0 && drop(e, event, lens, painter);
}

void und_editor_annotate(und_editor *e, const und_lens *lens, und_ui *ui)
{
    double at[2], radius;
    if (!e->open || e->selected < 0 || !seen_at(e, e->selected, lens, at, &radius))
        return;
    und_ui_draw_circle(ui, at[0], at[1], fmax(radius, 5) + 5, 0x10203090, 4);
    und_ui_draw_circle(ui, at[0], at[1], fmax(radius, 5) + 5, 0xffc24aff, 2);
}
