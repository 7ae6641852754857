#include "cache/manifest.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"
#include "cache/files.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Raised when frames hold things in another way: 2: bodies' triangles once. */
enum { FORMAT = 2, MANIFEST_MAX = 256 << 20 };

/* Text that is not UTF-8 is kept as Latin-1, {"latin1": ...}, so that every byte comes back. */
static json_t *put_text(const char *text)
{
    json_t *plain = json_string(text);
    if (plain)
        return plain;
    char *wide = malloc(2 * strlen(text) + 1), *to = wide;
    if (!wide)
        return NULL;
    for (const unsigned char *from = (const unsigned char *)text; *from; from++) {
        if (*from >= 0x80)
            *to++ = (char)(0xc0 | *from >> 6);
        *to++ = (char)(*from >= 0x80 ? 0x80 | (*from & 0x3f) : *from);
    }
    *to = 0;
    json_t *object = json_pack("{s:s}", "latin1", wide);
    free(wide);
    return object;
}

static json_t *put_hash(uint64_t hash)
{
    return json_sprintf("%016" PRIx64, hash);
}

static json_t *put_stamp(const store_stamp *stamp)
{
    return json_pack("{s:I, s:o}", "bytes", (json_int_t)stamp->bytes, "hash", put_hash(stamp->hash));
}

static json_t *put_checkpoints(const cache_manifest *m)
{
    json_t *list = json_array();
    for (int i = 0; i < m->checkpoint_count; i++) {
        const cache_checkpoint *c = &m->checkpoints[i];
        json_array_append_new(list, json_pack("{s:i, s:f, s:o, s:o, s:o}", "frame", c->frame, "time", c->time,
                                              "file", put_stamp(&c->stamp), "state_hash",
                                              put_hash(c->state_hash), "row_hash", put_hash(c->row_hash)));
    }
    return list;
}

static json_t *put_stages(const cache_manifest *m)
{
    json_t *list = json_array();
    for (int i = 0; i < m->stage_count; i++)
        json_array_append_new(list,
                              json_pack("{s:o, s:f, s:I}", "name", put_text(m->stages[i].name), "seconds",
                                        m->stages[i].seconds, "calls", (json_int_t)m->stages[i].calls));
    return list;
}

static json_t *put_files(const cache_files *files)
{
    json_t *list = json_array();
    for (int i = 0; i < files->count; i++) {
        const und_cache_file *f = &files->file[i];
        json_array_append_new(list, json_pack("{s:o, s:I, s:o}", "name", put_text(f->name), "bytes",
                                              (json_int_t)f->bytes, "hash", put_hash(f->hash)));
    }
    return list;
}

static json_t *put_flow(const cache_manifest *m)
{
    return json_pack("{s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "path", put_text(m->flow), "frame",
                     m->flow_frame, "rows_hash", put_hash(m->flow_hash), "pass", put_text(m->pass),
                     "bodies_path", put_text(m->bodies_path), "bodies_text", put_text(m->bodies_text),
                     "bodies_settings", put_text(m->bodies_settings), "bodies_files",
                     put_files(&m->bodies_files));
}

/* The hash of everything but the hash. */
static bool self_hash(json_t *root, uint64_t *hash)
{
    char *text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (text)
        *hash = und_hash(text, strlen(text), 0, 1);
    free(text);
    return text != NULL;
}

static json_t *to_json(const cache_manifest *m)
{
    json_t *fields = m->fields ? json_loads(m->fields, 0, NULL) : json_array();
    json_t *root = json_pack(
        "{s:i, s:o, s:o, s:o, s:s, s:o, s:o, s:s, s:o, s:i, s:i, s:f, s:i, s:o, s:o, s:o, s:o, s:I}",
        "format", FORMAT, "program", put_text(m->program), "name", put_text(m->name), "model",
        put_text(m->model), "units", "SI: m, s, m3; y up", "scene_path", put_text(m->scene_path),
        "scene_text", put_text(m->scene_text), "scene_hash", m->scene_hash, "settings", put_text(m->settings),
        "start", m->start, "end", m->end, "fps", m->fps, "frames", m->row_count, "ledger_hash",
        put_hash(m->ledger_hash), "fields", fields, "checkpoints", put_checkpoints(m), "stages",
        put_stages(m), "peak_memory", (json_int_t)m->peak_memory);
    if (root && m->has_static)
        json_object_set_new(root, "static",
                            json_pack("{s:o, s:o}", "file", put_stamp(&m->static_stamp), "items_hash",
                                      put_hash(m->static_hash)));
    if (root && m->flow)
        json_object_set_new(root, "flow", put_flow(m));
    if (root && m->keeps_files)
        json_object_set_new(root, "files", put_files(&m->files));
    if (root && m->grid)
        json_object_set_new(root, "grid", put_text(m->grid));
    if (root && m->branch)
        json_object_set_new(root, "branch",
                            json_pack("{s:o, s:i}", "path", put_text(m->branch), "frame", m->branch_frame));
    uint64_t hash;
    if (root && (!self_hash(root, &hash) || json_object_set_new(root, "manifest_hash", put_hash(hash)))) {
        json_decref(root);
        root = NULL;
    }
    return root;
}

und_status und_manifest_write(const char *path, const cache_manifest *manifest, und_error *err)
{
    json_t *root = to_json(manifest);
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    if (!text)
        return und_error_set(err, UND_FAILED,
                             "cannot write %s: out of memory, or a number that is not finite", path);
    und_status status = und_file_write(path, text, strlen(text), err);
    free(text);
    return status;
}

/* Reading: the first thing that is wrong is kept, and the rest goes on harmlessly. */
typedef struct parser {
    const char *path;
    const char *wrong; /* the key that is missing or of the wrong type */
} parser;

static json_t *need(parser *p, const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!value && !p->wrong)
        p->wrong = key;
    return value;
}

static char *get_text(parser *p, const json_t *object, const char *key)
{
    json_t *value = need(p, object, key);
    bool latin = json_is_object(value);
    const char *text = json_string_value(latin ? json_object_get(value, "latin1") : value);
    char *copy = text ? strdup(text) : NULL;
    if (copy && latin) {
        char *to = copy;
        for (const unsigned char *from = (const unsigned char *)text; *from; from++)
            if (*from < 0x80)
                *to++ = (char)*from;
            else if ((from[0] & 0xfc) == 0xc0 && (from[1] & 0xc0) == 0x80) {
                *to++ = (char)(from[0] << 6 | (from[1] & 0x3f));
                from++;
            }
        *to = 0;
    }
    if (!copy && !p->wrong)
        p->wrong = key;
    return copy;
}

static double get_double(parser *p, const json_t *object, const char *key)
{
    json_t *value = need(p, object, key);
    if (value && !json_is_number(value) && !p->wrong)
        p->wrong = key;
    return json_number_value(value);
}

static json_int_t get_integer(parser *p, const json_t *object, const char *key, json_int_t least,
                              json_int_t most)
{
    json_t *value = need(p, object, key);
    json_int_t number = json_integer_value(value);
    bool good = json_is_integer(value) && number >= least && number <= most;
    if (!good && !p->wrong)
        p->wrong = key;
    return good ? number : least;
}

static int get_int(parser *p, const json_t *object, const char *key)
{
    return (int)get_integer(p, object, key, INT_MIN, INT_MAX);
}

static uint64_t get_hash(parser *p, const json_t *object, const char *key)
{
    const char *text = json_string_value(need(p, object, key));
    char *end = NULL;
    errno = 0;
    uint64_t hash = text ? strtoull(text, &end, 16) : 0;
    if ((!text || strlen(text) != 16 || *end || errno) && !p->wrong)
        p->wrong = key;
    return hash;
}

static store_stamp get_stamp(parser *p, const json_t *object)
{
    json_t *file = need(p, object, "file");
    return (store_stamp){.bytes = (size_t)get_integer(p, file, "bytes", 0, INT64_MAX),
                         .hash = get_hash(p, file, "hash")};
}

/* A list's length and zeroed room for it. */
static void *get_list(parser *p, const json_t *root, const char *key, size_t size, int *count, json_t **list)
{
    *list = need(p, root, key);
    void *room = json_is_array(*list) ? calloc(json_array_size(*list) + 1, size) : NULL;
    if (!room && !p->wrong)
        p->wrong = key;
    *count = room ? (int)json_array_size(*list) : 0;
    return room;
}

static void get_lists(parser *p, const json_t *root, cache_manifest *m)
{
    json_t *list;
    m->checkpoints = get_list(p, root, "checkpoints", sizeof *m->checkpoints, &m->checkpoint_count, &list);
    for (int i = 0; i < m->checkpoint_count; i++) {
        const json_t *from = json_array_get(list, (size_t)i);
        cache_checkpoint *c = &m->checkpoints[i];
        c->frame = get_int(p, from, "frame");
        c->time = get_double(p, from, "time");
        c->stamp = get_stamp(p, from);
        c->state_hash = get_hash(p, from, "state_hash");
        const bool apart = json_object_get(from, "row_hash"); /* once they were one */
        c->row_hash = apart ? get_hash(p, from, "row_hash") : c->state_hash;
        if (i > 0 && c->frame <= c[-1].frame && !p->wrong)
            p->wrong = "checkpoints";
    }
    m->stage_names = get_list(p, root, "stages", sizeof *m->stage_names, &m->stage_count, &list);
    m->stages = get_list(p, root, "stages", sizeof *m->stages, &m->stage_count, &list);
    for (int i = 0; i < m->stage_count; i++) {
        const json_t *from = json_array_get(list, (size_t)i);
        m->stages[i].name = m->stage_names[i] = get_text(p, from, "name");
        m->stages[i].seconds = get_double(p, from, "seconds");
        m->stages[i].calls = (long)get_integer(p, from, "calls", 0, LONG_MAX);
    }
}

static void get_files(parser *p, const json_t *root, const char *key, cache_files *files)
{
    json_t *list;
    files->file = get_list(p, root, key, sizeof *files->file, &files->count, &list);
    for (int i = 0; i < files->count; i++) {
        const json_t *from = json_array_get(list, (size_t)i);
        files->file[i].name = get_text(p, from, "name");
        files->file[i].bytes = (size_t)get_integer(p, from, "bytes", 0, INT64_MAX);
        files->file[i].hash = get_hash(p, from, "hash");
    }
}

static void from_json(parser *p, json_t *root, cache_manifest *m)
{
    m->program = get_text(p, root, "program");
    m->name = get_text(p, root, "name");
    m->model = get_text(p, root, "model");
    m->scene_path = get_text(p, root, "scene_path");
    m->scene_text = get_text(p, root, "scene_text");
    m->settings = get_text(p, root, "settings");
    snprintf(m->scene_hash, sizeof m->scene_hash, "%016" PRIx64, get_hash(p, root, "scene_hash"));
    m->start = get_int(p, root, "start");
    m->end = get_int(p, root, "end");
    m->fps = get_double(p, root, "fps");
    if (!(m->fps > 0) && !p->wrong)
        p->wrong = "fps";
    m->row_count = (int)get_integer(p, root, "frames", 0, INT_MAX);
    m->ledger_hash = get_hash(p, root, "ledger_hash");
    m->peak_memory = (size_t)get_integer(p, root, "peak_memory", 0, INT64_MAX);
    json_t *fields = need(p, root, "fields"), *statics = json_object_get(root, "static");
    m->fields = json_is_array(fields) ? json_dumps(fields, 0) : NULL;
    if (!m->fields && !p->wrong)
        p->wrong = "fields";
    m->has_static = statics != NULL;
    if (statics) {
        m->static_stamp = get_stamp(p, statics);
        m->static_hash = get_hash(p, statics, "items_hash");
    }
    get_lists(p, root, m);
    const json_t *flow = json_object_get(root, "flow"), *branch = json_object_get(root, "branch");
    m->keeps_files = json_object_get(root, "files") != NULL;
    if (m->keeps_files)
        get_files(p, root, "files", &m->files);
    if (json_object_get(root, "grid"))
        m->grid = get_text(p, root, "grid");
    if (branch) {
        m->branch = get_text(p, branch, "path");
        m->branch_frame = get_int(p, branch, "frame");
    }
    if (flow) {
        m->flow = get_text(p, flow, "path");
        m->flow_frame = get_int(p, flow, "frame");
        m->flow_hash = get_hash(p, flow, "rows_hash");
        m->pass = json_object_get(flow, "pass") ? get_text(p, flow, "pass") : strdup("float");
        m->bodies_path = get_text(p, flow, "bodies_path");
        m->bodies_text = get_text(p, flow, "bodies_text");
        m->bodies_settings = get_text(p, flow, "bodies_settings");
        if (json_object_get(flow, "bodies_files"))
            get_files(p, flow, "bodies_files", &m->bodies_files);
    }
}

und_status und_manifest_read(const char *path, cache_manifest *manifest, und_error *err)
{
    *manifest = (cache_manifest){0};
    char *text;
    size_t bytes;
    und_status status = und_file_read(path, MANIFEST_MAX, &text, &bytes, err);
    if (status)
        return status;
    json_error_t error;
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (!root)
        return und_error_set(err, UND_FAILED, "%s:%d: damaged: %s", path, error.line, error.text);
    parser p = {.path = path};
    uint64_t hash = 0, expected = get_hash(&p, root, "manifest_hash");
    json_t *format = json_object_get(root, "format");
    json_object_del(root, "manifest_hash");
    if (!json_is_object(root) || !json_is_integer(format))
        status = und_error_set(err, UND_FAILED, "%s: not the manifest of a cache", path);
    else if (json_integer_value(format) != FORMAT)
        status = und_error_set(err, UND_FAILED,
                               "%s: format %lld, written by another version of the program (this one has "
                               "%d): simulate it again",
                               path, (long long)json_integer_value(format), FORMAT);
    else
        from_json(&p, root, manifest);
    if (!status && p.wrong)
        status = und_error_set(err, UND_FAILED, "%s: damaged: \"%s\" is missing or wrong", path, p.wrong);
    else if (!status && (!self_hash(root, &hash) || hash != expected))
        status = und_error_set(err, UND_FAILED,
                               "%s has changed since it was written (hash %016" PRIx64
                               " should be %016" PRIx64 ")",
                               path, hash, expected);
    json_decref(root);
    return status;
}

void und_manifest_clear(cache_manifest *m)
{
    for (int i = 0; i < m->stage_count; i++)
        free(m->stage_names[i]);
    free(m->stage_names);
    free(m->stages);
    free(m->checkpoints);
    free(m->program);
    free(m->name);
    free(m->model);
    free(m->scene_path);
    free(m->scene_text);
    free(m->settings);
    free(m->fields);
    free(m->flow);
    free(m->branch);
    free(m->pass);
    free(m->grid);
    free(m->bodies_path);
    free(m->bodies_text);
    free(m->bodies_settings);
    und_files_clear(&m->files);
    und_files_clear(&m->bodies_files);
    *m = (cache_manifest){0};
}

char *und_manifest_describe_fields(const und_frame *frame)
{
    json_t *list = json_array();
    for (int i = 0; i < frame->count; i++) {
        const und_item *item = &frame->items[i];
        json_t *shape = json_array();
        for (int k = 0; k < item->rank; k++)
            json_array_append_new(shape, json_integer((json_int_t)item->dim[k]));
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:s, s:s, s:b, s:o}", "name", put_text(item->name), "unit",
                            put_text(item->unit), "kind", und_store_kind_name(item->kind), "type",
                            und_store_type_name(item->type), "static", item->is_static, "shape", shape));
    }
    char *text = json_dumps(list, JSON_COMPACT);
    json_decref(list);
    return text;
}

und_status und_manifest_add_stages(cache_manifest *m, const und_stage *stages, int count, und_error *err)
{
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < m->stage_count && strcmp(m->stages[k].name, stages[i].name) != 0)
            k++;
        if (k == m->stage_count) {
            und_stage *grown = realloc(m->stages, (size_t)(k + 1) * sizeof *grown);
            m->stages = grown ? grown : m->stages;
            char **names = realloc(m->stage_names, (size_t)(k + 1) * sizeof *names);
            m->stage_names = names ? names : m->stage_names;
            char *name = strdup(stages[i].name);
            if (!grown || !names || !name) {
                free(name);
                return und_error_set(err, UND_FAILED, "out of memory: stages");
            }
            m->stages[m->stage_count] = (und_stage){.name = name};
            m->stage_names[m->stage_count++] = name;
        }
        m->stages[k].seconds += stages[i].seconds;
        m->stages[k].calls += stages[i].calls;
    }
    return UND_OK;
}
