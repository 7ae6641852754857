/* The text of a skeleton (doc/skeleton.md), one statement a line. */
#include "base/status.h"
#include "base/words.h"
#include "bodies/skeleton_data.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 512 };
static const double largest = 1e5;        /* of any number in the file */
static const double shortest_span = 0.02; /* s */
static const double spans_most = 60;      /* s, all spans together */

/* Turns of some bones; entry 0, the root, is the figure's own turn. */
typedef struct pose {
    char name[NAME_SIZE];
    bool has[BONES_MAX];
    und_vec3 turn[BONES_MAX];
    bool has_place; /* in a key alone */
    und_vec3 place;
} pose;

enum { PLACE = -1 };

typedef struct setting {
    int bone; /* or PLACE */
    double time;
    und_vec3 value;
    int line;
} setting;

typedef struct parser {
    const char *path;
    und_error *err;
    und_skeleton *skeleton;
    int line;
    char *words[WORDS_MAX]; /* of the line */
    int count, at;          /* `at`: the next to be read */
    bool named;
    pose poses[POSES_MAX], key;
    int pose_count;
    setting *settings;
    int setting_count, setting_room;
    lead_span spans[SPANS_MAX];
    int span_count;
} parser;

/* Formats "path:line: ..." and is false, so that a reader can say `return fail(...)`. */
#define fail(p, ...) fail_at(p, (p)->line, __VA_ARGS__)

static bool __attribute__((format(printf, 3, 4))) fail_at(parser *p, int line, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    und_error_set(p->err, UND_INVALID, "%s:%d: %s", p->path, line, text);
    return false;
}

static const char *peek(const parser *p)
{
    return p->at < p->count ? p->words[p->at] : NULL;
}

/* "expected WHAT, found ...": the next word, or the end of the line. */
static bool fail_expected(parser *p, const char *what)
{
    const char *found = peek(p);
    if (!found)
        return fail(p, "expected %s, found the end of the line", what);
    return fail(p, "expected %s, found \"%.40s\"", what, found);
}

/* For a word that is none of those it could be. */
static bool fail_unknown(parser *p, const char *what, const char *word, const char *const *words, int count)
{
    const char *near = und_suggest(word, words, count);
    if (near)
        return fail(p, "unknown %s \"%.40s\" (did you mean \"%s\"?)", what, word, near);
    return fail(p, "unknown %s \"%.40s\"", what, word);
}

static bool looks_like_number(const char *word)
{
    return word && (isdigit((unsigned char)*word) || strchr("+-.", *word));
}

static bool read_number(parser *p, const char *what, double low, double high, double *out)
{
    const char *word = peek(p);
    if (!looks_like_number(word))
        return fail_expected(p, what);
    char *end;
    double value = strtod(word, &end);
    if (*end || end == word || !isfinite(value))
        return fail_expected(p, what);
    if (!(value >= low && value <= high))
        return fail(p, "expected %s from %g to %g, found %.40s", what, low, high, word);
    p->at++;
    *out = value;
    return true;
}

static bool read_vector(parser *p, const char *what, double low, double high, und_vec3 *out)
{
    return read_number(p, what, low, high, &out->x) && read_number(p, what, low, high, &out->y) &&
           read_number(p, what, low, high, &out->z);
}

/* Degrees about x and, where given, y and z. */
static bool read_turn(parser *p, und_vec3 *out)
{
    *out = und_vec(0, 0, 0);
    if (!read_number(p, "a turn about x in degrees", -largest, largest, &out->x))
        return false;
    if (looks_like_number(peek(p)) && !read_number(p, "a turn about y", -largest, largest, &out->y))
        return false;
    return !looks_like_number(peek(p)) || read_number(p, "a turn about z", -largest, largest, &out->z);
}

static bool is_reserved(const char *word)
{
    static const char *const reserved[] = {"on",   "joint",  "ellipsoid", "at",  "tilt",
                                           "turn", "limits", "color",     "pose"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcmp(word, reserved[i]) == 0)
            return true;
    return false;
}

static bool read_name(parser *p, const char *what, char name[NAME_SIZE])
{
    const char *word = peek(p);
    bool good = word && isalpha((unsigned char)*word);
    for (const char *c = word; good && *c; c++)
        good = isalnum((unsigned char)*c) || *c == '_';
    if (!good)
        return fail_expected(p, what);
    if (is_reserved(word))
        return fail(p, "\"%s\" has a meaning of its own and cannot be a name", word);
    if (strlen(word) >= NAME_SIZE)
        return fail(p, "a name has at most %d letters, found \"%.40s\"", NAME_SIZE - 1, word);
    memcpy(name, word, strlen(word) + 1);
    p->at++;
    return true;
}

/* Both of a pair are meant by the name they share: `thigh` for thigh_left and thigh_right. */
static int find_pair(const und_skeleton *s, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < s->count; i++) {
        const bone *b = &s->bones[i];
        if (b->twin > i && strncmp(b->name, name, length) == 0 && strrchr(b->name, '_') == b->name + length)
            return i;
    }
    return -1;
}

static bool fail_no_bone(parser *p, const char *word)
{
    const char *names[2 * BONES_MAX];
    char pairs[BONES_MAX][NAME_SIZE];
    int count = 0;
    for (int i = 0; i < p->skeleton->count; i++) {
        const bone *b = &p->skeleton->bones[i];
        names[count++] = b->name;
        if (b->twin > i) {
            snprintf(pairs[i], NAME_SIZE, "%.*s", (int)(strrchr(b->name, '_') - b->name), b->name);
            names[count++] = pairs[i];
        }
    }
    return fail_unknown(p, "bone", word, names, count);
}

static bool read_bone(parser *p, int *out)
{
    const char *word = peek(p);
    if (!word)
        return fail_expected(p, "the name of a bone");
    *out = und_skeleton_find(p->skeleton, word);
    if (*out < 0)
        return fail_no_bone(p, word);
    p->at++;
    return true;
}

static bool read_skeleton(parser *p)
{
    char name[NAME_SIZE];
    if (p->named)
        return fail(p, "a file has one skeleton, and here is a second");
    p->named = true;
    return read_name(p, "the skeleton's name", name);
}

/* Least and most turn about x and, where given, about y and z. */
static bool read_limits(parser *p, bone *b)
{
    double *ends[] = {&b->low.x, &b->high.x, &b->low.y, &b->high.y, &b->low.z, &b->high.z};
    b->limited = true;
    for (int k = 0; k < 6 && (k < 2 || looks_like_number(peek(p))); k += 2) {
        if (!read_number(p, "the least turn in degrees", -360, 360, ends[k]) ||
            !read_number(p, "the most turn in degrees", *ends[k], 360, ends[k + 1]))
            return false;
    }
    return true;
}

/* One clause of a bone: `joint 0 0.1 0` and the like. */
static bool read_clause(parser *p, bone *b, und_vec3 *half, const char *clause)
{
    static const char *const clauses[] = {"joint", "ellipsoid", "at", "tilt", "limits", "color"};
    if (strcmp(clause, "joint") == 0)
        return read_vector(p, "the joint's x, y and z in metres", -largest, largest, &b->joint);
    if (strcmp(clause, "ellipsoid") == 0)
        return read_vector(p, "the ellipsoid's three semi-axes in metres", 1e-4, 1e3, half);
    if (strcmp(clause, "at") == 0)
        return read_vector(p, "the ellipsoid's centre, x, y and z in metres", -largest, largest,
                           &b->ellipsoid.position);
    if (strcmp(clause, "tilt") == 0)
        return read_turn(p, &b->tilt);
    if (strcmp(clause, "limits") == 0)
        return read_limits(p, b);
    if (strcmp(clause, "color") == 0) {
        und_vec3 c;
        if (!read_vector(p, "the colour's red, green and blue", 0, 1, &c))
            return false;
        b->color[0] = (float)c.x, b->color[1] = (float)c.y, b->color[2] = (float)c.z;
        return true;
    }
    return fail_unknown(p, "clause", clause, clauses, sizeof clauses / sizeof *clauses);
}

static bool add_bone(parser *p, const bone *b, und_vec3 half)
{
    und_skeleton *s = p->skeleton;
    if (s->count == BONES_MAX)
        return fail(p, "more than %d bones", BONES_MAX);
    if (und_skeleton_find(s, b->name) >= 0)
        return fail(p, "there is already a bone \"%s\"", b->name);
    und_shape *shape = und_shape_create(&(und_shape){.kind = UND_ELLIPSOID, .half = half}, p->err);
    if (!shape)
        return false;
    bone *made = &s->bones[s->count++];
    *made = *b;
    made->shape = shape;
    made->turn = NULL;
    made->ellipsoid.rotation = und_quat_euler(b->tilt);
    return true;
}

static bool read_bone_statement(parser *p)
{
    bone b = {.parent = -1, .twin = -1, .color = {0.7f, 0.7f, 0.7f}};
    und_vec3 half = {0};
    if (!read_name(p, "the bone's name", b.name))
        return false;
    if (peek(p) && strcmp(peek(p), "on") == 0) {
        p->at++;
        if (!read_bone(p, &b.parent))
            return false;
    }
    bool first = p->skeleton->count == 0;
    if (!first && b.parent < 0)
        return fail(p, "expected `on` and the bone that \"%s\" hangs on: only the first has none", b.name);
    while (peek(p)) {
        const char *clause = p->words[p->at++];
        if (first && strcmp(clause, "joint") == 0)
            return fail(p, "the first bone has no joint: keys place it");
        if (!read_clause(p, &b, &half, clause))
            return false;
    }
    if (!(half.x > 0))
        return fail(p, "the bone \"%s\" needs an ellipsoid", b.name);
    return add_bone(p, &b, half);
}

static bool ends_in_side(const char *name, const char *side)
{
    const char *mark = strrchr(name, '_');
    return mark && mark > name && strcmp(mark + 1, side) == 0;
}

/* The mirror is the plane x = 0: places change the sign of x, turns those about y and z. */
static bool add_twin(parser *p, int index, const char *side)
{
    const bone *b = &p->skeleton->bones[index];
    bone twin = *b;
    int stem = (int)(strrchr(b->name, '_') + 1 - b->name);
    int length = snprintf(twin.name, NAME_SIZE, "%.*s%s", stem, b->name, side);
    if (length >= NAME_SIZE)
        return fail(p, "the mirrored name of \"%s\" is too long", b->name);
    int parent_twin = p->skeleton->bones[b->parent].twin;
    twin.parent = parent_twin >= 0 ? parent_twin : b->parent;
    twin.twin = index;
    twin.joint.x = -b->joint.x;
    twin.ellipsoid.position.x = -b->ellipsoid.position.x;
    twin.tilt.y = -b->tilt.y;
    twin.tilt.z = -b->tilt.z;
    twin.low = und_vec(b->low.x, -b->high.y, -b->high.z);
    twin.high = und_vec(b->high.x, -b->low.y, -b->low.z);
    if (!add_bone(p, &twin, b->shape->half))
        return false;
    p->skeleton->bones[index].twin = p->skeleton->count - 1;
    return true;
}

static bool read_mirror(parser *p)
{
    char from[NAME_SIZE], to[NAME_SIZE];
    if (!read_name(p, "the side to mirror, as `left`", from) ||
        !read_name(p, "the other side, as `right`", to))
        return false;
    int before = p->skeleton->count;
    for (int i = 1; i < before; i++)
        if (ends_in_side(p->skeleton->bones[i].name, from) && p->skeleton->bones[i].twin < 0)
            if (!add_twin(p, i, to))
                return false;
    if (p->skeleton->count == before)
        return fail(p, "no bone's name ends in \"_%s\"", from);
    return true;
}

static pose *find_pose(parser *p, const char *name)
{
    for (int i = 0; i < p->pose_count; i++)
        if (strcmp(p->poses[i].name, name) == 0)
            return &p->poses[i];
    return NULL;
}

static bool read_pose_name(parser *p, pose *out)
{
    const char *word = peek(p), *names[POSES_MAX];
    if (!word)
        return fail_expected(p, "the name of a pose");
    const pose *from = find_pose(p, word);
    for (int i = 0; i < p->pose_count; i++)
        names[i] = p->poses[i].name;
    if (!from)
        return fail_unknown(p, "pose", word, names, p->pose_count);
    p->at++;
    for (int i = 0; i < p->skeleton->count; i++)
        if (from->has[i]) {
            out->has[i] = true;
            out->turn[i] = from->turn[i];
        }
    return true;
}

/* `thigh_left -20` or, for both, `thigh -20 5`. */
static bool read_joint(parser *p, pose *out)
{
    const char *word = peek(p);
    int index = und_skeleton_find(p->skeleton, word), pair = -1;
    if (index == 0)
        return fail(p, "\"%s\" is the first bone: it turns by `turn` in a key", word);
    if (index < 0)
        index = pair = find_pair(p->skeleton, word);
    if (index < 0)
        return fail_no_bone(p, word);
    p->at++;
    und_vec3 turn;
    if (!read_turn(p, &turn))
        return false;
    out->has[index] = true;
    out->turn[index] = turn;
    if (pair >= 0) {
        int twin = p->skeleton->bones[pair].twin;
        out->has[twin] = true;
        out->turn[twin] = und_vec(turn.x, -turn.y, -turn.z);
    }
    return true;
}

/* What a pose or a key sets; what comes later on the line counts. */
static bool read_items(parser *p, pose *out, bool key)
{
    while (peek(p)) {
        const char *word = peek(p);
        bool place = strcmp(word, "at") == 0, turn = strcmp(word, "turn") == 0;
        bool good;
        if ((place || turn) && !key)
            return fail(p, "`%s` belongs to keys: a pose sets joints alone", word);
        p->at += place || turn;
        if (place)
            good = read_vector(p, "a place, x, y and z in metres", -largest, largest, &out->place);
        else if (turn)
            good = read_turn(p, &out->turn[0]);
        else if (strcmp(word, "pose") == 0)
            good = (p->at++, read_pose_name(p, out));
        else
            good = read_joint(p, out);
        if (!good)
            return false;
        out->has_place |= place;
        out->has[0] |= turn;
    }
    return true;
}

static bool read_pose(parser *p)
{
    char name[NAME_SIZE];
    if (!read_name(p, "the pose's name", name))
        return false;
    pose *to = find_pose(p, name);
    if (!to) {
        if (p->pose_count == POSES_MAX)
            return fail(p, "more than %d poses", POSES_MAX);
        to = &p->poses[p->pose_count++];
        memcpy(to->name, name, NAME_SIZE);
    }
    if (!peek(p))
        return fail_expected(p, "a bone and its turn, or `pose` and a name");
    return read_items(p, to, false);
}

static bool add_setting(parser *p, int bone_index, double time, und_vec3 value)
{
    if (p->setting_count == KEYS_MAX)
        return fail(p, "keys set more than %d turns and places", KEYS_MAX);
    if (p->setting_count == p->setting_room) {
        int room = p->setting_room ? 2 * p->setting_room : 256;
        setting *more = realloc(p->settings, (size_t)room * sizeof *more);
        if (!more) {
            und_error_set(p->err, UND_FAILED, "out of memory: the keys of %s", p->path);
            return false;
        }
        p->settings = more;
        p->setting_room = room;
    }
    p->settings[p->setting_count++] =
        (setting){.bone = bone_index, .time = time, .value = value, .line = p->line};
    return true;
}

static bool read_key(parser *p)
{
    double time;
    pose *key = &p->key;
    *key = (pose){0};
    if (!read_number(p, "the key's time in seconds", 0, largest, &time))
        return false;
    if (!peek(p))
        return fail_expected(p, "`at`, `turn`, `pose` or a bone");
    if (!read_items(p, key, true))
        return false;
    if (key->has_place && !add_setting(p, PLACE, time, key->place))
        return false;
    for (int i = 0; i < p->skeleton->count; i++)
        if (key->has[i] && !add_setting(p, i, time, key->turn[i]))
            return false;
    if (p->skeleton->length < time)
        p->skeleton->length = time;
    return true;
}

static bool add_span(parser *p, lead_span span)
{
    double all = span.to - span.from;
    if (!(all >= shortest_span))
        return fail(p, "expected a second time at least %g s after the first", shortest_span);
    if (p->span_count == SPANS_MAX)
        return fail(p, "more than %d times of `plant` and `fly`", SPANS_MAX);
    for (int i = 0; i < p->span_count; i++) {
        const lead_span *other = &p->spans[i];
        all += other->to - other->from;
        if (span.from < other->to && other->from < span.to)
            return fail(p, "%g to %g s overlaps the %g to %g s of line %d", span.from, span.to, other->from,
                        other->to, other->line);
    }
    if (all > spans_most)
        return fail(p, "`plant` and `fly` are for %g s at most, all together", spans_most);
    span.line = p->line;
    p->spans[p->span_count++] = span;
    return true;
}

static bool read_fly(parser *p)
{
    lead_span span = {.flies = true};
    return read_number(p, "the time of take-off in seconds", 0, largest, &span.from) &&
           read_number(p, "the time of landing in seconds", 0, largest, &span.to) && add_span(p, span);
}

static bool read_plant(parser *p)
{
    lead_span span = {0};
    if (!read_number(p, "the time to begin in seconds", 0, largest, &span.from) ||
        !read_number(p, "the time to end in seconds", 0, largest, &span.to) || !read_bone(p, &span.bone))
        return false;
    if (peek(p) && strcmp(peek(p), "at") == 0) {
        p->at++;
        if (!read_vector(p, "a point of the bone, x, y and z in metres", -largest, largest, &span.point))
            return false;
    }
    return add_span(p, span);
}

typedef bool statement_fn(parser *p);

static bool read_statement(parser *p)
{
    static const char *const names[] = {"skeleton", "bone", "mirror", "pose", "key", "plant", "fly"};
    static statement_fn *const readers[] = {read_skeleton, read_bone_statement, read_mirror, read_pose,
                                            read_key,      read_plant,          read_fly};
    enum { STATEMENTS = sizeof names / sizeof *names };
    const char *word = p->words[p->at++];
    for (int i = 0; i < STATEMENTS; i++)
        if (strcmp(word, names[i]) == 0) {
            if (i > 0 && !p->named)
                return fail(p, "expected `skeleton` and a name before anything else, found \"%s\"", word);
            if (i > 1 && p->skeleton->count == 0)
                return fail(p, "expected a bone before `%s`", word);
            if (!readers[i](p))
                return false;
            return !peek(p) || fail_expected(p, "the end of the line");
        }
    return fail_unknown(p, "statement", word, names, STATEMENTS);
}

/* Cuts a line into its words; a zero byte or another control character has no place in one. */
static bool split(parser *p, char *line)
{
    p->count = p->at = 0;
    line[strcspn(line, "#")] = 0;
    for (char *c = line; *c; c++)
        if (iscntrl((unsigned char)*c) && !isspace((unsigned char)*c))
            return fail(p, "a character that is not text (code %d)", (unsigned char)*c);
    for (char *save, *word = strtok_r(line, " \t\r\v\f", &save); word;
         word = strtok_r(NULL, " \t\r\v\f", &save)) {
        if (p->count == WORDS_MAX)
            return fail(p, "a line of more than %d words", WORDS_MAX);
        p->words[p->count++] = word;
    }
    return true;
}

static bool read_lines(parser *p, char *text, size_t size)
{
    for (char *line = text, *end = text + size; line < end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        *stop = 0;
        p->line++;
        if (strlen(line) < (size_t)(stop - line))
            return fail(p, "a character that is not text (code 0)");
        if (!split(p, line) || (p->count > 0 && !read_statement(p)))
            return false;
        line = stop + 1;
    }
    if (p->skeleton->count == 0)
        return fail(p, p->named ? "the skeleton has no bone" : "expected `skeleton` and a name");
    return true;
}

static int compare_settings(const void *left, const void *right)
{
    const setting *a = left, *b = right;
    if (a->bone != b->bone)
        return a->bone < b->bone ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static int compare_spans(const void *left, const void *right)
{
    const lead_span *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* Sorts the settings; one joint set twice at one time is an error. */
static bool sort_settings(parser *p)
{
    setting *s = p->settings;
    if (p->setting_count > 1)
        qsort(s, (size_t)p->setting_count, sizeof *s, compare_settings);
    for (int i = 1; i < p->setting_count; i++)
        if (s[i].bone == s[i - 1].bone && s[i].time == s[i - 1].time)
            return fail_at(p, s[i].line, "%s is already set at %g s, in line %d",
                           s[i].bone == PLACE ? "the place"
                           : s[i].bone == 0   ? "the turn"
                                              : p->skeleton->bones[s[i].bone].name,
                           s[i].time, s[i - 1].line);
    return true;
}

/* The keys of one bone, or the place, among the sorted ones. */
static key_row row_of(const parser *p, und_key *keys, int bone_index)
{
    int first = 0, end;
    while (first < p->setting_count && p->settings[first].bone < bone_index)
        first++;
    for (end = first; end < p->setting_count && p->settings[end].bone == bone_index; end++)
        keys[end] = (und_key){.time = p->settings[end].time, .position = p->settings[end].value};
    return (key_row){keys + first, end - first};
}

/* A joint without limits turns as far as its keys take it, and a little farther; one without keys is stiff.
 */
static void limit_by_keys(bone *b, key_row row)
{
    const double more = 10; /* degrees */
    for (int i = 0; i < row.count; i++) {
        und_vec3 t = row.keys[i].position, low = i == 0 ? t : b->low, high = i == 0 ? t : b->high;
        b->low = und_vec(fmin(low.x, t.x), fmin(low.y, t.y), fmin(low.z, t.z));
        b->high = und_vec(fmax(high.x, t.x), fmax(high.y, t.y), fmax(high.z, t.z));
    }
    if (row.count > 0) {
        b->low = und_sub(b->low, und_vec(more, more, more));
        b->high = und_add(b->high, und_vec(more, more, more));
    }
}

static bool make_motions(parser *p)
{
    und_skeleton *s = p->skeleton;
    if (!sort_settings(p))
        return false;
    qsort(p->spans, (size_t)p->span_count, sizeof *p->spans, compare_spans);
    und_key *keys = und_alloc((size_t)p->setting_count + 1, sizeof *keys, "a skeleton's keys", p->err);
    if (!keys)
        return false;
    bool good = true;
    for (int i = 1; i < s->count && good; i++) {
        key_row row = row_of(p, keys, i);
        if (!s->bones[i].limited)
            limit_by_keys(&s->bones[i], row);
        if (row.count > 0)
            good = (s->bones[i].turn = und_motion_create(row.keys, row.count, UND_EASE_MONOTONE, p->err));
    }
    const lead_span *bad = NULL;
    und_error why = {0};
    if (good) {
        key_row places = row_of(p, keys, PLACE), turns = row_of(p, keys, 0);
        good = !und_skeleton_lead(s, places, turns, p->spans, p->span_count, &bad, &why);
        if (!good && why.status == UND_INVALID && bad)
            fail_at(p, bad->line, "%s", why.text);
        else if (!good)
            und_error_set(p->err, why.status, "%s", why.text);
    }
    free(keys);
    return good;
}

und_skeleton *und_skeleton_parse(const char *text, size_t size, const char *path, und_error *err)
{
    parser *p = und_alloc(1, sizeof *p, "a skeleton's reader", err);
    und_skeleton *skeleton = und_alloc(1, sizeof *skeleton, "a skeleton", err);
    char *copy = und_alloc(size + 1, 1, "a skeleton's text", err);
    bool good = false;
    if (p && skeleton && copy) {
        if (size > 0)
            memcpy(copy, text, size);
        skeleton->placed.rotation.w = 1;
        p->path = path;
        p->err = err;
        p->skeleton = skeleton;
        good = read_lines(p, copy, size) && make_motions(p);
    }
    if (p)
        free(p->settings);
    free(p);
    free(copy);
    if (!good) {
        und_skeleton_destroy(skeleton);
        return NULL;
    }
    return skeleton;
}
