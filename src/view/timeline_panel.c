/* The panel along the lower border: buttons, and the ledger's volume over the frames, which is dragged along.
 */
#include "view/colormap.h"
#include "view/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TICKS_MOST = 16, MEMORY_BAR = 3, FRAMES_MOST = 1 << 24 };
static const unsigned INK = 0xd5dde4ff, FAINT = 0x8b98a4ff, GRID = 0xffffff18, HEAD = 0xffffffe0,
                      MEMORY = 0x4f93b8c0, GROUND = 0x060a0eb0;

unsigned und_timeline_color(int which)
{
    return which == 0 ? 0x62c7f2ff : 0xf5b056ff;
}

/* Buttons, with drawn signs: what they are called is what scripts and tips say. */
enum { BUTTON_FIRST = 1, BUTTON_BACK, BUTTON_PLAY, BUTTON_ON, BUTTON_LAST };

static void draw_triangle(und_ui *ui, double x0, double x1, double middle, double half, unsigned color)
{
    int columns = (int)fabs(x1 - x0);
    double low = fmin(x0, x1);
    for (int i = 0; i < columns; i++) {
        double share = (i + 0.5) / columns, reach = half * (x1 > x0 ? 1 - share : share);
        und_ui_draw_rect(ui, low + i, middle - reach, low + i + 1, middle + reach, color, true);
    }
}

static void draw_sign(und_ui *ui, const und_ui_area *a, int button, bool playing)
{
    double x = (a->x0 + a->x1) / 2, y = (a->y0 + a->y1) / 2, r = floor((a->y1 - a->y0) * 0.24);
    bool back = button == BUTTON_FIRST || button == BUTTON_BACK;
    double way = back ? -1 : 1;
    unsigned color = a->hovered ? 0xffffffff : INK;
    if (button == BUTTON_PLAY && playing) {
        und_ui_draw_rect(ui, x - r, y - r, x - 0.3 * r, y + r, color, true);
        und_ui_draw_rect(ui, x + 0.3 * r, y - r, x + r, y + r, color, true);
    } else if (button == BUTTON_PLAY) {
        draw_triangle(ui, x - r, x + 1.2 * r, y, 1.2 * r, color);
    } else if (button == BUTTON_BACK || button == BUTTON_ON) {
        draw_triangle(ui, x - 0.1 * way * r, x + way * r, y, r, color);
        und_ui_draw_rect(ui, x - 0.7 * way * r - 1, y - r, x - 0.7 * way * r + 1, y + r, color, true);
    } else {
        draw_triangle(ui, x - way * r, x + 0.6 * way * r, y, r, color);
        und_ui_draw_rect(ui, x + way * r - 1, y - r, x + way * r + 1, y + r, color, true);
    }
}

/* What a key does. */
static void run_key(und_timeline *line, int key)
{
    int count;
    const und_action *actions = und_timeline_actions(&count);
    for (int i = 0; i < count; i++)
        if (actions[i].key == key)
            actions[i].run(line);
}

/* The row of buttons; they do what the menu does, when they go down. */
static void draw_buttons(und_timeline *line, und_ui *ui, double size)
{
    static const struct {
        const char *label, *tip;
        int key;
    } buttons[] = {[BUTTON_FIRST] = {"First", "first frame (Home)", UND_KEY_HOME},
                   [BUTTON_BACK] = {"Back", "one frame back (Left)", UND_KEY_LEFT},
                   [BUTTON_PLAY] = {"Play/pause", "play or pause (Space)", ' '},
                   [BUTTON_ON] = {"Forward", "one frame on (Right)", UND_KEY_RIGHT},
                   [BUTTON_LAST] = {"Last", "last frame (End)", UND_KEY_END}};
    for (int i = BUTTON_FIRST; i <= BUTTON_LAST; i++) {
        und_ui_area a = und_ui_canvas(ui, buttons[i].label, 1.3 * size, size);
        unsigned color = a.held ? 0x33859ee0 : a.hovered ? 0x2a6a86c0 : 0x29384780;
        und_ui_draw_rect(ui, a.x0, a.y0, a.x1, a.y1, color, true);
        draw_sign(ui, &a, i, line->playing);
        und_ui_tip(ui, buttons[i].tip);
        und_ui_beside(ui);
        if (a.held && line->button == 0)
            run_key(line, buttons[i].key);
        if (a.held)
            line->button = i;
        else if (line->button == i)
            line->button = 0;
    }
}

static void draw_switches(und_timeline *line, und_ui *ui)
{
    double speed = fabs(line->speed);
    und_ui_check(ui, "loop", &line->loop);
    und_ui_beside(ui);
    und_ui_check(ui, "every frame", &line->every_frame);
    und_ui_tip(ui, "waits for frames that are slow to read or draw; else they are skipped");
    und_ui_beside(ui);
    und_ui_width(ui, 110);
    if (und_ui_slider(ui, "speed", &speed, 1.0 / 16, 16, line->speed < 0 ? "-%.2f x" : "%.2f x", true))
        line->speed = copysign(speed, line->speed);
    und_ui_beside(ui);
    und_ui_check(ui, "percent", &line->percent);
    und_ui_tip(ui, "plots how much volume is gained or lost against what flowed in and out, not the volume");
    und_ui_beside(ui);
    und_ui_text(ui, "   frame %d of %d to %d   %.3f s%s", und_timeline_frame(line), line->first, line->last,
                und_timeline_time(line), line->grows ? "   a run is writing more" : "");
}

/* Where things are in the plot. */
typedef struct plot {
    und_timeline *line;
    und_frame_player *const *players;
    int count;
    und_ui *ui;
    und_ui_area area;
    double x0, y0, x1, y1; /* of the curves */
    double low, high;      /* of the values */
    double text;           /* height of a line */
} plot;

static double value_of(const plot *p, const und_ledger *ledger)
{
    return p->line->percent ? und_timeline_gain(ledger) : ledger->measured;
}

/* Frames and rows of other players go by time. */
static double frame_of(const plot *p, double time)
{
    return (time - p->line->time_zero) * p->line->fps;
}

static double x_of(const plot *p, double frame)
{
    double frames = (double)p->line->last - p->line->first;
    return frames > 0 ? p->x0 + (p->x1 - p->x0) * (frame - p->line->first) / frames : (p->x0 + p->x1) / 2;
}

static double y_of(const plot *p, double value)
{
    double share = (value - p->low) / (p->high - p->low);
    return p->y1 - (p->y1 - p->y0) * fmin(fmax(share, 0), 1);
}

static void widen(plot *p, double value)
{
    if (!isfinite(value))
        return;
    p->low = fmin(p->low, value);
    p->high = fmax(p->high, value);
}

/* All values, with a little air, and never so narrow that rounding is what is seen. */
static void find_range(plot *p)
{
    p->low = INFINITY;
    p->high = -INFINITY;
    for (int k = 0; k < p->count; k++) {
        und_cache_info info = und_frame_player_info(p->players[k]);
        for (int i = 0; i < info.row_count; i++) {
            widen(p, value_of(p, &info.rows[i].ledger));
            if (!p->line->percent)
                widen(p, und_timeline_due(&info.rows[i].ledger));
        }
    }
    if (p->line->percent)
        widen(p, 0);
    if (!(p->high >= p->low))
        p->low = p->high = 0;
    double least = p->line->percent ? 0.01 : fmax(0.02 * fmax(fabs(p->low), fabs(p->high)), 1e-12);
    double middle = 0.5 * (p->low + p->high), half = 0.55 * fmax(p->high - p->low, least);
    p->low = middle - half;
    p->high = middle + half;
}

static void write_value(const plot *p, char text[48], double value, int decimals)
{
    const char *unit = p->line->percent ? "%" : "m3";
    if (decimals > 5 || fabs(value) >= 1e7)
        snprintf(text, 48, "%.4g %s", value, unit);
    else
        snprintf(text, 48, "%.*f %s", decimals, value + 0.0, unit);
}

/* Ticks of the values, on the left; makes the room they need. */
static void draw_values(plot *p)
{
    double ticks[TICKS_MOST], width, height, widest = 0;
    int decimals, count = und_legend_ticks(p->low, p->high, 4, ticks, &decimals);
    char text[TICKS_MOST][48];
    for (int i = 0; i < count; i++) {
        write_value(p, text[i], ticks[i], decimals);
        und_ui_text_size(p->ui, text[i], &width, &height);
        widest = fmax(widest, width);
    }
    p->x0 = p->area.x0 + widest + 14;
    for (int i = 0; i < count; i++) {
        double y = floor(y_of(p, ticks[i])) + 0.5;
        und_ui_text_size(p->ui, text[i], &width, &height);
        und_ui_draw_text(p->ui, p->x0 - 8 - width, y - height / 2, FAINT, text[i]);
        und_ui_draw_line(p->ui, p->x0, y, p->x1, y, GRID, 1);
    }
}

static void draw_frames(const plot *p)
{
    double ticks[TICKS_MOST], width, height;
    int decimals;
    int most = (int)fmin((p->x1 - p->x0) / (5 * p->text), TICKS_MOST);
    int count = und_legend_ticks(p->line->first, p->line->last, most, ticks, &decimals);
    for (int i = 0; i < count; i++) {
        char text[32];
        double x = floor(x_of(p, ticks[i])) + 0.5;
        if (ticks[i] != floor(ticks[i]))
            continue;
        snprintf(text, sizeof text, "%.0f", ticks[i]);
        und_ui_text_size(p->ui, text, &width, &height);
        und_ui_draw_line(p->ui, x, p->y0, x, p->y1, GRID, 1);
        und_ui_draw_text(p->ui, x - width / 2, p->y1 + 3 * MEMORY_BAR, FAINT, text);
    }
}

/* What was measured, and thin behind it what should be there. */
static void draw_curves(const plot *p, int which)
{
    und_cache_info info = und_frame_player_info(p->players[which]);
    unsigned color = und_timeline_color(which), pale = (color & 0xffffff00u) | 0x78;
    int stride = info.row_count / (int)fmax(p->x1 - p->x0, 1) + 1;
    double last[3] = {0};
    for (int i = 0; i < info.row_count; i += stride) {
        const und_cache_row *row = &info.rows[i];
        double x = x_of(p, frame_of(p, row->time)), y = y_of(p, value_of(p, &row->ledger));
        double due = y_of(p, p->line->percent ? 0 : und_timeline_due(&row->ledger));
        if (!isfinite(x))
            continue;
        if (i > 0) {
            und_ui_draw_line(p->ui, last[0], last[2], x, due, pale, 1);
            und_ui_draw_line(p->ui, last[0], last[1], x, y, color, 1.6);
        }
        last[0] = x;
        last[1] = y;
        last[2] = due;
    }
    if (info.branch) {
        double x =
            floor(x_of(p, frame_of(p, und_frame_player_time(p->players[which], info.branch_frame)))) + 0.5;
        for (double y = p->y0; y < p->y1; y += 6)
            und_ui_draw_line(p->ui, x, y, x, fmin(y + 3, p->y1), color, 1);
        und_ui_draw_text(p->ui, x + 4, p->y1 - p->text - 1, color, "branch");
    }
}

/* A bar under the curves where frames are in memory. */
static void draw_memory(const plot *p, int which)
{
    int first = und_frame_player_first(p->players[which]), last = und_frame_player_last(p->players[which]);
    long count = (long)last - first + 1;
    bool *marks = count > 0 && count < FRAMES_MOST ? malloc((size_t)count * sizeof *marks) : NULL;
    if (!marks)
        return;
    und_frame_player_kept(p->players[which], first, (int)count, marks);
    double y = p->y1 + 2 + which * (MEMORY_BAR + 1);
    double half = 0.5 * (x_of(p, 1) - x_of(p, 0));
    for (int i = 0, k; i < count; i = k + 1) {
        for (k = i; k + 1 < count && marks[k + 1] && marks[i];)
            k++;
        if (!marks[i])
            continue;
        double from = x_of(p, frame_of(p, und_frame_player_time(p->players[which], first + i))) - half;
        double to = x_of(p, frame_of(p, und_frame_player_time(p->players[which], first + k))) + half;
        und_ui_draw_rect(p->ui, fmax(from, p->x0), y, fmin(to, p->x1), y + MEMORY_BAR, MEMORY, true);
    }
    free(marks);
}

/* Names, and the volume at a frame. */
static void draw_names(const plot *p, int frame)
{
    double x = p->x0 + 8;
    for (int k = 0; k < p->count; k++) {
        und_cache_info info = und_frame_player_info(p->players[k]);
        int own = und_frame_player_frame_at(p->players[k], p->line->time_zero + frame / p->line->fps);
        const und_cache_row *row = NULL;
        for (int i = 0; i < info.row_count && !row; i++)
            row = info.rows[i].frame == own ? &info.rows[i] : NULL;
        if (!row)
            continue;
        char text[256];
        double width, height;
        double gain = und_timeline_gain(&row->ledger);
        snprintf(text, sizeof text, "%.120s   %.6g m3   %+.3g %%", und_timeline_name(p->players, p->count, k),
                 row->ledger.measured, fabs(gain) < 1e-6 ? 0 : gain); /* not what rounding does */
        und_ui_text_size(p->ui, text, &width, &height);
        und_ui_draw_text(p->ui, x, p->area.y0 + 3, und_timeline_color(k), text);
        x += width + 28;
    }
}

static void drag(plot *p)
{
    und_timeline *line = p->line;
    double share = fmin(fmax((p->area.mouse_x - p->x0) / fmax(p->x1 - p->x0, 1), 0), 1);
    double frame = floor(line->first + share * ((double)line->last - line->first) + 0.5);
    line->held = p->area.held;
    if (p->area.held)
        und_timeline_go(line, frame);
    else if (p->area.hovered && p->area.mouse_x >= p->x0) {
        char text[64];
        double x = floor(x_of(p, frame)) + 0.5;
        und_ui_draw_line(p->ui, x, p->y0, x, p->y1, 0xffffff50, 1);
        snprintf(text, sizeof text, "%.0f: %.3f s", frame, line->time_zero + frame / line->fps);
        und_ui_tip(p->ui, text);
    }
}

static void draw_head(const plot *p)
{
    double x = floor(x_of(p, und_timeline_frame(p->line))) + 0.5;
    und_ui_draw_line(p->ui, x, p->y0, x, p->y1 + 2, HEAD, 1.5);
    for (int i = 0; i < 6; i++)
        und_ui_draw_rect(p->ui, x - 6 + i, p->y0 - 4 + i, x + 6 - i, p->y0 - 3 + i, HEAD, true);
}

void und_timeline_panel(und_timeline *line, und_frame_player *const *players, int count, und_ui *ui)
{
    double width, text;
    und_ui_text_size(ui, "0", &width, &text);
    draw_buttons(line, ui, 1.5 * text);
    draw_switches(line, ui);
    plot p = {.line = line, .players = players, .count = count, .ui = ui, .text = text};
    p.area = und_ui_canvas(ui, "frames", 0, 7 * text);
    p.x0 = p.area.x0;
    p.x1 = p.area.x1 - 12;
    p.y0 = p.area.y0 + text + 8; /* under the names */
    p.y1 = p.area.y1 - text - 3 * MEMORY_BAR;
    if (line->last < line->first) {
        und_ui_draw_text(ui, p.x0 + 8, p.y0 + text, INK, "no frame has been written yet");
        return;
    }
    find_range(&p);
    und_ui_draw_rect(ui, p.area.x0, p.area.y0, p.area.x1, p.area.y1, GROUND, true);
    draw_values(&p);
    drag(&p);
    draw_frames(&p);
    for (int k = 0; k < count; k++) {
        draw_curves(&p, k);
        draw_memory(&p, k);
    }
    draw_names(&p, und_timeline_frame(line));
    draw_head(&p);
}
