#include "view/timeline.h"

#include "liquid/liquid.h"

#include <math.h>
#include <string.h>

static const double SPEED_LEAST = 1.0 / 16, SPEED_MOST = 16;

und_timeline und_timeline_begin(void)
{
    return (und_timeline){.frame = -INFINITY, .loop = true, .speed = 1, .fps = 24, .last = -1};
}

static bool empty(const und_timeline *line)
{
    return line->last < line->first;
}

void und_timeline_go(und_timeline *line, double frame)
{
    if (isnan(frame))
        return;
    line->frame = empty(line) ? line->first : fmin(fmax(frame, line->first), line->last);
}

int und_timeline_frame(const und_timeline *line)
{
    if (empty(line) || !(line->frame > line->first))
        return line->first;
    return line->frame < line->last ? (int)floor(line->frame + 0.5) : line->last;
}

double und_timeline_time(const und_timeline *line)
{
    return line->time_zero + und_timeline_frame(line) / line->fps;
}

void und_timeline_advance(und_timeline *line, double seconds)
{
    double step = seconds * line->fps * line->speed;
    if (!line->playing || line->held || empty(line) || !(seconds > 0) || !isfinite(step))
        return;
    if (line->every_frame) {
        if (line->waiting)
            return;
        step = fmin(fmax(step, -1), 1);
    }
    double frame = line->frame + step, frames = (double)line->last - line->first + 1;
    bool past = step > 0 ? frame > line->last : frame < line->first;
    if (line->loop) { /* each frame is as long as any: half of the last is after it, half of the first before
                       */
        double along = fmod(frame - line->first + 0.5, frames);
        line->frame = line->first - 0.5 + (along < 0 ? along + frames : along);
        return;
    }
    und_timeline_go(line, frame);
    if (past && !(line->grows && step > 0))
        line->playing = false;
}

/* Which player's frames are counted. */
static int leader(und_frame_player *const *players, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (und_frame_player_info(players[i]).fps > und_frame_player_info(players[best]).fps)
            best = i;
    return best;
}

static void take_range(und_timeline *line, und_frame_player *const *players, int count, int lead)
{
    double fps = und_frame_player_info(players[lead]).fps;
    line->fps = fps > 0 && isfinite(fps) ? fps : 24;
    line->first = und_frame_player_first(players[lead]);
    line->last = und_frame_player_last(players[lead]);
    line->time_zero = und_frame_player_time(players[lead], line->first) - line->first / line->fps;
    line->grows = und_frame_player_grows(players[lead]);
    for (int i = 0; i < count; i++) {
        int first = und_frame_player_first(players[i]), last = und_frame_player_last(players[i]);
        line->grows = line->grows || und_frame_player_grows(players[i]);
        if (i == lead || last < first)
            continue;
        double from = (und_frame_player_time(players[i], first) - line->time_zero) * line->fps;
        double to = (und_frame_player_time(players[i], last) - line->time_zero) * line->fps;
        if (fabs(from) < 1e9 && fabs(to) < 1e9) {
            line->first = (int)fmin(line->first, floor(from + 0.5));
            line->last = (int)fmax(line->last, floor(to + 0.5));
        }
    }
}

void und_timeline_follow(und_timeline *line, und_frame_player *const *players, int count)
{
    int lead = leader(players, count), direction = line->playing ? (line->speed < 0 ? -1 : 1) : 0;
    take_range(line, players, count, lead);
    int frame = und_timeline_frame(line);
    if (!(line->frame >= line->first - 0.5 && line->frame <= line->last + 0.5))
        line->frame = frame;
    line->waiting = false;
    for (int i = 0; i < count; i++) {
        int own = i == lead ? frame : und_frame_player_frame_at(players[i], und_timeline_time(line));
        und_frame_player_seek(players[i], own, direction);
        line->waiting = line->waiting || !und_frame_player_ready(players[i]);
    }
}

const char *und_timeline_name(und_frame_player *const *players, int count, int which)
{
    for (int i = 0; i < count; i++)
        if (i != which &&
            strcmp(und_frame_player_name(players[i]), und_frame_player_name(players[which])) == 0)
            return und_frame_player_info(players[which]).folder;
    return und_frame_player_name(players[which]);
}

double und_timeline_due(const und_ledger *ledger)
{
    return und_ledger_expected(ledger) - ledger->correction;
}

double und_timeline_gain(const und_ledger *ledger)
{
    double due = und_timeline_due(ledger);
    return due > 0 ? 100 * (ledger->measured - due) / due : 0;
}

/* Actions. */

static void play(void *context)
{
    und_timeline *line = context;
    bool at_end = line->speed < 0 ? line->frame <= line->first : line->frame >= line->last;
    line->playing = !line->playing;
    if (line->playing && at_end && !line->loop && !line->grows)
        und_timeline_go(line, line->speed < 0 ? line->last : line->first);
}

static void stand_at(und_timeline *line, double frame)
{
    line->playing = false;
    und_timeline_go(line, frame);
}

static void step_on(void *context)
{
    und_timeline *line = context;
    int frame = und_timeline_frame(line);
    stand_at(line, line->loop && frame == line->last ? line->first : frame + 1.0);
}

static void step_back(void *context)
{
    und_timeline *line = context;
    int frame = und_timeline_frame(line);
    stand_at(line, line->loop && frame == line->first ? line->last : frame - 1.0);
}

static void go_first(void *context)
{
    und_timeline *line = context;
    und_timeline_go(line, line->first);
}

static void go_last(void *context)
{
    und_timeline *line = context;
    stand_at(line, line->last);
}

UND_SWITCH(loop, und_timeline, loop)
UND_SWITCH(every_frame, und_timeline, every_frame)
UND_SWITCH(percent, und_timeline, percent)

static void backwards(void *context)
{
    und_timeline *line = context;
    line->speed = -line->speed;
}

static void change_speed(und_timeline *line, double factor)
{
    double size = fmin(fmax(fabs(line->speed) * factor, SPEED_LEAST), SPEED_MOST);
    line->speed = copysign(size, line->speed);
}

static void faster(void *context)
{
    change_speed(context, 2);
}

static void slower(void *context)
{
    change_speed(context, 0.5);
}

static bool is_playing(const void *context)
{
    return ((const und_timeline *)context)->playing;
}

static bool is_backwards(const void *context)
{
    return ((const und_timeline *)context)->speed < 0;
}

const und_action *und_timeline_actions(int *count)
{
    static const und_action actions[] = {
        {"Play", "Play or pause", ' ', 0, play, is_playing, NULL},
        {"Play", "Step forward", UND_KEY_RIGHT, UND_MOD_REPEATS, step_on, NULL, NULL},
        {"Play", "Step back", UND_KEY_LEFT, UND_MOD_REPEATS, step_back, NULL, NULL},
        {"Play", "First frame", UND_KEY_HOME, 0, go_first, NULL, NULL},
        {"Play", "Last frame", UND_KEY_END, 0, go_last, NULL, NULL},
        {"Play", "Loop", 'L', 0, switch_loop, is_loop, NULL},
        {"Play", "Backwards", 'B', 0, backwards, is_backwards, NULL},
        {"Play", "Faster", ']', 0, faster, NULL, NULL},
        {"Play", "Slower", '[', 0, slower, NULL, NULL},
        {"Play", "Every frame", 0, 0, switch_every_frame, is_every_frame, NULL},
        {"Play", "Volume in percent", 0, 0, switch_percent, is_percent, NULL},
    };
    *count = sizeof actions / sizeof *actions;
    return actions;
}
