/* doc/scene.md is the whole language: every key stands in it and every row of its tables is a key.  Every
 * scene in any of the documents loads. */
#include "tests/test.h"

#include "scene/read.h"

#include <glob.h>

enum { KEYS_MAX = 1024 };

typedef struct document {
    char *text;
    char *keys[KEYS_MAX]; /* "liquid.waves.gravity" */
    int key_count;
} document;

static void keep_key(void *context, const und_scene_key *key)
{
    document *d = context;
    assert_true(d->key_count < KEYS_MAX);
    assert_true(key->name[0] && key->expected[0] && key->doc && key->doc[0]);
    d->keys[d->key_count++] = strdup(key->name);
}

static int set_up(void **state)
{
    document *d = calloc(1, sizeof *d);
    d->text = read_text(UND_SOURCE_DIR "/doc/scene.md");
    und_scene_keys(keep_key, d);
    *state = d;
    return 0;
}

static int tear_down(void **state)
{
    document *d = *state;
    for (int i = 0; i < d->key_count; i++)
        free(d->keys[i]);
    free(d->text);
    free(d);
    return 0;
}

/* Does the heading have `word` (or its last part, "waves" for `liquid.waves`) in it as code? */
static bool heading_has(const char *heading, size_t length, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 1; i + n < length; i++)
        if (memcmp(heading + i, word, n) == 0 && heading[i + n] == '`' && strchr("`.", heading[i - 1]))
            return true;
    return false;
}

/* Calls for each row "| `key` |" of a table under a heading with code in it. */
typedef bool row_fn(const char *heading, size_t heading_length, const char *key, const void *context);

static bool any_row(const char *text, row_fn *each, const void *context)
{
    const char *heading = NULL;
    size_t heading_length = 0;
    bool code = false;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, "```", 3) == 0)
            code = !code;
        if (*line == '#' && !code) {
            heading = line;
            heading_length = strcspn(line, "\n");
        }
        if (heading && strncmp(line, "| `", 3) == 0 && memchr(heading, '`', heading_length)) {
            char key[64] = "";
            size_t n = strcspn(line + 3, "`");
            memcpy(key, line + 3, n < sizeof key ? n : sizeof key - 1);
            if (each(heading, heading_length, key, context))
                return true;
        }
    }
    return false;
}

/* The last part of a key's name, and the last part of what is before it. */
static void split(const char *name, char parent[64], char key[64])
{
    const char *dot = strrchr(name, '.'), *from = dot;
    while (from > name && from[-1] != '.')
        from--;
    snprintf(parent, 64, "%.*s", (int)(dot - from), from);
    snprintf(key, 64, "%s", dot + 1);
}

static bool row_is(const char *heading, size_t length, const char *key, const void *context)
{
    char parent[64], last[64];
    split(context, parent, last);
    return strcmp(key, last) == 0 && heading_has(heading, length, parent);
}

static void every_key_is_documented(void **state)
{
    const document *d = *state;
    assert_true(d->key_count > 100);
    for (int i = 0; i < d->key_count; i++)
        if (!any_row(d->text, row_is, d->keys[i]))
            fail_msg("doc/scene.md does not have %s", d->keys[i]);
}

static bool row_is_unknown(const char *heading, size_t length, const char *key, const void *context)
{
    const document *d = context;
    for (int i = 0; i < d->key_count; i++)
        if (row_is(heading, length, key, d->keys[i]))
            return false;
    print_message("%.*s: %s is no key\n", (int)length, heading, key);
    return true;
}

static void every_row_is_a_key(void **state)
{
    const document *d = *state;
    assert_false(any_row(d->text, row_is_unknown, d));
}

/* Where a block's defaults are. */
typedef struct defaults {
    const char *parent;
    const field *fields;
    const void *def;
} defaults;

/* The row "| `key` | value | unit | range | default | ..." of a block, or NULL. */
static const char *default_in(const char *text, const char *parent, const char *key)
{
    char begin[80];
    bool inside = false;
    snprintf(begin, sizeof begin, "| `%s` |", key);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (*line == '#')
            inside = heading_has(line, strcspn(line, "\n"), parent);
        if (inside && strncmp(line, begin, strlen(begin)) == 0) {
            for (int column = 0; column < 5; column++)
                line = strchr(line, '|') + 1;
            return line + 1;
        }
    }
    return NULL;
}

/* A number, a fraction, "infinite" or "never", true or false; NaN where it is something else. */
static double number_in(const char *text)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"infinite ", INFINITY}, {"never ", INFINITY}, {"true ", 1}, {"false ", 0}};
    for (int i = 0; i < 4; i++)
        if (strncmp(text, words[i].word, strlen(words[i].word)) == 0)
            return words[i].value;
    char *end;
    double value = strtod(text, &end);
    if (*end == '/')
        value /= strtod(end + 1, &end);
    return end > text && strncmp(end, " |", 2) == 0 ? value : NAN;
}

static int check_defaults(const document *d, const defaults *from)
{
    int count = 0;
    field_walk walk = und_fields_walk(from->fields);
    for (const field *f; (f = und_fields_next(&walk)) != NULL;) {
        const char *at = (const char *)from->def + f->offset,
                   *text = default_in(d->text, from->parent, f->key);
        if (!text || (f->type != F_NUMBER && f->type != F_INTEGER && f->type != F_FLAG))
            continue;
        double told = number_in(text), is = f->type == F_NUMBER    ? *(const double *)at
                                            : f->type == F_INTEGER ? (double)*(const int *)at
                                                                   : (double)*(const bool *)at;
        if (isnan(told))
            continue; /* in words */
        if (!(told == is || fabs(told - is) <= 1e-9 * fabs(is)))
            fail_msg("doc/scene.md: %s.%s is %g where nothing is said, not %g", from->parent, f->key, is,
                     told);
        count++;
    }
    return count;
}

static const field *inside_of(const field *fields, const char *key)
{
    field_walk walk = und_fields_walk(fields);
    const field *f;
    while ((f = und_fields_next(&walk)) != NULL && strcmp(f->key, key) != 0)
        ;
    assert_non_null(f);
    return f->inside;
}

static const field *block_of(const char *name)
{
    const block *b = und_blocks;
    while (b->name && strcmp(b->name, name) != 0)
        b++;
    assert_non_null(b->name);
    return b->fields;
}

static void defaults_are_what_is_told(void **state)
{
    const document *d = *state;
    const und_waves_def waves = und_waves_def_default();
    const und_columns_def columns = und_columns_def_default();
    const und_cells_def cells = und_cells_def_default();
    const und_levelset_def levelset = und_levelset_def_default();
    const und_picture_def render = und_picture_def_default();
    const field *w = block_of("liquid.waves"), *c = block_of("liquid.columns");
    const field *spray = inside_of(c, "spray");
    const defaults all[] = {{"waves", w, &waves},
                            {"columns", c, &columns},
                            {"foam", inside_of(w, "foam"), &waves.foam},
                            {"rain", inside_of(w, "rain"), &waves.height_field.rain},
                            {"spray", spray, &columns.spray},
                            {"sheets", inside_of(spray, "sheets"), &columns.spray},
                            {"cells", block_of("liquid.cells"), &cells},
                            {"levelset", block_of("liquid.levelset"), &levelset},
                            {"camera", block_of("camera"), &render},
                            {"light", block_of("light"), &render},
                            {"water", block_of("water"), &render},
                            {"ground", block_of("ground"), &render},
                            {"film", block_of("film"), &render},
                            {"render", block_of("render"), &render}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (check_defaults(d, &all[i]) == 0)
            fail_msg("doc/scene.md has no default of %s", all[i].parent);
}

/* Loads every ```lua block that is a whole scene, as if it lay among the scenes; how many there are. */
static int load_scenes(const char *path)
{
    char *all = read_text(path);
    int scenes = 0;
    for (char *p = all; (p = strstr(p, "```lua\n")) != NULL;) {
        p += 7;
        char *end = strstr(p, "```");
        assert_non_null(end);
        char *text = strndup(p, (size_t)(end - p));
        if (strncmp(text, "scene", 5) == 0 || strstr(text, "\nscene")) {
            und_error err = {0};
            und_scene *scene = und_scene_from_text(text, UND_SOURCE_DIR "/scenes/doc.lua", NULL, 0, &err);
            if (!scene)
                fail_msg("%s: %s\n%s", path, text, err.text);
            und_scene_destroy(scene);
            scenes++;
        }
        free(text);
        p = end + 3;
    }
    free(all);
    return scenes;
}

static void every_scene_loads(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(UND_SOURCE_DIR "/doc/*.md", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        load_scenes(files.gl_pathv[i]);
    globfree(&files);
    assert_int_equal(load_scenes(UND_SOURCE_DIR "/README.md"), 1);
    assert_true(load_scenes(UND_SOURCE_DIR "/doc/recipes.md") >= 5);
    assert_true(load_scenes(UND_SOURCE_DIR "/doc/scene.md") >= 8);
    assert_int_equal(load_scenes(UND_SOURCE_DIR "/doc/splash.md"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_documented), cmocka_unit_test(every_row_is_a_key),
        cmocka_unit_test(defaults_are_what_is_told), cmocka_unit_test(every_scene_loads)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
