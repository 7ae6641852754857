/* Synthetic input from a text. */
#include "view/script.h"

#include "base/file.h"
#include "base/stage.h"
#include "base/status.h"
#include "view/view_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 8, TEXT_MOST = 1 << 20 };

typedef struct script {
    und_view *view;
    const char *path, *folder;
    int line;
    char *word[WORDS];
    int count;
    double mouse[2];
    und_error *err;
} script;

static und_status wrong(script *s, const char *expected)
{
    return und_error_set(s->err, UND_INVALID, "%s:%d: %s: expected %s", s->path, s->line, s->word[0],
                         expected);
}

static und_status picture(script *s)
{
    if (und_view_frame(s->view, s->err) || s->view->quit)
        return UND_OK;
    return s->err->status;
}

static und_status numbers(script *s, int first, int count, double *value)
{
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        if (first + i >= s->count || (value[i] = strtod(s->word[first + i], &end), *end))
            return wrong(s, count == 1 ? "a number" : "numbers");
    }
    return UND_OK;
}

/* A button by its name; the left one where there is none. */
static und_status button_of(script *s, int *button)
{
    static const char *const names[UND_BUTTONS] = {"left", "right", "middle"};
    *button = UND_BUTTON_LEFT;
    if (s->count < 2)
        return UND_OK;
    for (int i = 0; i < UND_BUTTONS; i++)
        if (strcmp(s->word[1], names[i]) == 0) {
            *button = i;
            return UND_OK;
        }
    return wrong(s, "left, right or middle");
}

static und_status move_to(script *s, double x, double y)
{
    s->mouse[0] = x;
    s->mouse[1] = y;
    und_view_event(s->view, &(und_event){.kind = UND_EVENT_MOVE, .x = x, .y = y});
    return picture(s);
}

static und_status press(script *s, int button, bool down)
{
    und_view_event(
        s->view,
        &(und_event){
            .kind = UND_EVENT_BUTTON, .button = button, .down = down, .x = s->mouse[0], .y = s->mouse[1]});
    return picture(s);
}

/* To a share of the width of a widget. */
static und_status move_within(script *s, const char *label, double share)
{
    double rect[4];
    if (!und_view_where(s->view, label, rect))
        return und_error_set(s->err, UND_INVALID, "%s:%d: %s: \"%s\" is not on the screen", s->path, s->line,
                             s->word[0], label);
    return move_to(s, rect[0] + share * (rect[2] - rect[0]), (rect[1] + rect[3]) / 2);
}

static bool is_number(const char *word)
{
    char *end;
    return (void)strtod(word, &end), *end == 0;
}

static und_status do_move(script *s)
{
    double to[2] = {0.5};
    if (s->count > 1 && !is_number(s->word[1]))
        return s->count > 2 && numbers(s, 2, 1, to) != UND_OK ? s->err->status
                                                              : move_within(s, s->word[1], to[0]);
    return numbers(s, 1, 2, to) == UND_OK ? move_to(s, to[0], to[1]) : s->err->status;
}

static und_status do_point(script *s)
{
    double point[3], x, y;
    if (numbers(s, 1, 3, point) != UND_OK)
        return s->err->status;
    return und_view_project(s->view, point, &x, &y) ? move_to(s, x, y) : wrong(s, "a place before the eye");
}

static und_status do_press(script *s)
{
    int button;
    return button_of(s, &button) == UND_OK ? press(s, button, strcmp(s->word[0], "press") == 0)
                                           : s->err->status;
}

static und_status do_click(script *s)
{
    und_status status = s->count > 1 ? do_move(s) : UND_OK;
    if (status == UND_OK)
        status = press(s, UND_BUTTON_LEFT, true);
    if (status == UND_OK)
        status = press(s, UND_BUTTON_LEFT, false);
    return status == UND_OK ? picture(s) : status; /* what opened knows its size then */
}

/* From here to there in ten steps, with the left button down, or another. */
static und_status do_drag(script *s)
{
    enum { STEPS = 10 };
    double place[4];
    int button = s->count > 5 && strcmp(s->word[5], "right") == 0 ? UND_BUTTON_RIGHT : UND_BUTTON_LEFT;
    und_status status = numbers(s, 1, 4, place);
    if (status == UND_OK)
        status = move_to(s, place[0], place[1]);
    if (status == UND_OK)
        status = press(s, button, true);
    for (int i = 1; i <= STEPS && status == UND_OK; i++)
        status = move_to(s, place[0] + (place[2] - place[0]) * i / STEPS,
                         place[1] + (place[3] - place[1]) * i / STEPS);
    return status == UND_OK ? press(s, button, false) : status;
}

static und_status do_slide(script *s)
{
    double share = 0;
    if (s->count != 3 || numbers(s, 2, 1, &share) != UND_OK)
        return wrong(s, "the name of a slider and a share of its length");
    und_status status = move_within(s, s->word[1], share);
    if (status == UND_OK)
        status = press(s, UND_BUTTON_LEFT, true);
    return status == UND_OK ? press(s, UND_BUTTON_LEFT, false) : status;
}

static und_status do_scroll(script *s)
{
    double notches = 0;
    if (numbers(s, 1, 1, &notches) != UND_OK)
        return s->err->status;
    und_view_event(s->view, &(und_event){.kind = UND_EVENT_SCROLL, .y = notches});
    return picture(s);
}

static int key_of(const char *name)
{
    static const struct {
        const char *name;
        int key;
    } keys[] = {{"space", ' '},
                {"escape", UND_KEY_ESCAPE},
                {"enter", UND_KEY_ENTER},
                {"tab", UND_KEY_TAB},
                {"backspace", UND_KEY_BACKSPACE},
                {"delete", UND_KEY_DELETE},
                {"left", UND_KEY_LEFT},
                {"right", UND_KEY_RIGHT},
                {"up", UND_KEY_UP},
                {"down", UND_KEY_DOWN},
                {"home", UND_KEY_HOME},
                {"end", UND_KEY_END},
                {"?", '/'}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(name, keys[i].name) == 0)
            return keys[i].key;
    return name[0] && !name[1] ? toupper((unsigned char)name[0]) : 0;
}

static und_status do_key(script *s)
{
    static const struct {
        const char *name;
        unsigned mod;
    } mods[] = {{"ctrl+", UND_MOD_CONTROL}, {"shift+", UND_MOD_SHIFT}, {"alt+", UND_MOD_ALT}};
    const char *name = s->count == 2 ? s->word[1] : "";
    und_event event = {.kind = UND_EVENT_KEY, .down = true};
    for (size_t i = 0; i < sizeof mods / sizeof *mods; i++)
        if (strncmp(name, mods[i].name, strlen(mods[i].name)) == 0) {
            event.mods |= mods[i].mod;
            name += strlen(mods[i].name);
        }
    event.key = key_of(name);
    if (!event.key)
        return wrong(s, "a key: a letter, space, left, ctrl+S");
    und_view_event(s->view, &event);
    und_status status = picture(s);
    event.down = false;
    und_view_event(s->view, &event);
    return status == UND_OK ? picture(s) : status;
}

static und_status do_type(script *s)
{
    und_status status = UND_OK;
    for (int i = 1; i < s->count; i++)
        for (const char *c = s->word[i]; *c && status == UND_OK; c++) {
            und_view_event(s->view, &(und_event){.kind = UND_EVENT_TEXT, .text = (unsigned char)*c});
            status = picture(s);
        }
    return status;
}

static und_status do_steps(script *s)
{
    double steps = 0;
    und_live *live = und_view_live(s->view);
    if (!live || numbers(s, 1, 1, &steps) != UND_OK || !(steps >= 0 && steps < 1e6))
        return wrong(s, "a number of steps, of a scene that runs");
    und_live_step(live, (int)steps);
    und_view_settle(s->view);
    return picture(s);
}

static und_status do_frame(script *s)
{
    double frame = 0;
    und_timeline *line = und_view_timeline(s->view);
    if (!line || numbers(s, 1, 1, &frame) != UND_OK || !(frame >= line->first && frame <= line->last))
        return wrong(s, "the number of a frame of the cache");
    line->frame = frame;
    line->playing = false;
    und_status status = picture(s); /* which asks for it */
    und_view_settle(s->view);
    return status == UND_OK ? picture(s) : status;
}

static und_status do_draw(script *s)
{
    double pictures = 1;
    if (s->count > 1 && numbers(s, 1, 1, &pictures) != UND_OK)
        return s->err->status;
    und_status status = UND_OK;
    for (int i = 0; i < pictures && status == UND_OK; i++)
        status = picture(s);
    return status;
}

static und_status do_wait(script *s)
{
    double seconds = 0, began = und_clock();
    und_status status = numbers(s, 1, 1, &seconds);
    while (status == UND_OK && und_clock() - began < seconds)
        status = picture(s);
    return status;
}

static und_status do_shot(script *s)
{
    if (s->count != 2 || strchr(s->word[1], '/'))
        return wrong(s, "the name of a picture");
    und_status status = und_path_set(s->view->shot_path, s->err, "%s/%s", s->folder, s->word[1]);
    s->view->shot_quietly = true;
    if (status == UND_OK)
        status = picture(s);
    if (status == UND_OK && s->view->shot_error.status != UND_OK)
        *s->err = s->view->shot_error;
    return status == UND_OK ? s->view->shot_error.status : status;
}

static und_status do_tell(script *s)
{
    const und_pane *pane = &s->view->pane[0];
    const und_live_state *state = &pane->state;
    if (pane->live)
        printf("time %.9g step %.9g playing %d gravity %.9g damping %.9g viscosity %.9g rain %.9g measured "
               "%.17g note %s\n",
               state->time, state->time_step, state->playing, state->tuning.gravity, state->tuning.damping,
               state->tuning.viscosity, state->tuning.rain, state->ledger.measured, state->note);
    else
        printf("frame %d time %.9g playing %d\n", pane->number, pane->time, s->view->timeline.playing);
    fflush(stdout);
    return UND_OK;
}

static const struct {
    const char *name;
    und_status (*run)(script *s);
} commands[] = {{"move", do_move},   {"point", do_point}, {"press", do_press}, {"release", do_press},
                {"click", do_click}, {"drag", do_drag},   {"slide", do_slide}, {"scroll", do_scroll},
                {"key", do_key},     {"type", do_type},   {"steps", do_steps}, {"frame", do_frame},
                {"draw", do_draw},   {"wait", do_wait},   {"shot", do_shot},   {"tell", do_tell}};

/* Words apart by spaces, or in quotes. */
static void split(script *s, char *line)
{
    s->count = 0;
    while (s->count < WORDS) {
        line += strspn(line, " \t\r");
        if (!*line || *line == '#')
            return;
        char quote = *line == '"' ? '"' : ' ';
        s->word[s->count++] = line += quote == '"';
        line += strcspn(line, quote == '"' ? "\"" : " \t\r");
        if (!*line)
            return;
        *line++ = 0;
    }
}

static und_status run_line(script *s, char *line)
{
    split(s, line);
    if (s->count == 0)
        return UND_OK;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(s->word[0], commands[i].name) == 0)
            return commands[i].run(s);
    return und_error_set(
        s->err, UND_INVALID,
        "%s:%d: %s is no command: expected move, point, press, release, click, drag, slide, scroll, key, "
        "type, steps, frame, draw, wait, shot or tell",
        s->path, s->line, s->word[0]);
}

und_status und_script_run(und_view *view, const char *path, const char *folder, und_error *err)
{
    char *text = NULL;
    size_t bytes;
    script s = {.view = view, .path = path, .folder = folder, .err = err};
    und_status status = und_file_read(path, TEXT_MOST, &text, &bytes, err);
    if (status == UND_OK) { /* the first picture is there before the first line */
        und_view_settle(view);
        status = picture(&s);
        und_view_settle(view);
    }
    if (status == UND_OK)
        status = picture(&s);
    for (char *line = text; status == UND_OK && line && !view->quit;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        s.line++;
        status = run_line(&s, line);
        line = end ? end + 1 : NULL;
    }
    free(text);
    return status;
}
