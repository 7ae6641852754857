/* undine info: what is in a cache. */
#include "app.h"
#include "grids.h"

#include "cache/cache.h"
#include "control_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *ledger_json(const und_ledger *l)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "start", number(l->start), "sources",
                     number(l->sources), "drains", number(l->drains), "left", number(l->left), "spray_out",
                     number(l->spray_out), "spray_back", number(l->spray_back), "correction",
                     number(l->correction), "measured", number(l->measured));
}

/* What a frame of cells tells of the steps that led to it: item "step". */
enum {
    STEP_COUNT,
    STEP_SHORTEST,
    STEP_LIMIT,
    STEP_MEAN,
    STEP_MOST,
    STEP_DIVERGENCE,
    STEP_FAILED,
    STEP_NUMBERS
};

static bool read_step(und_cache *cache, int frame_number, double step[STEP_NUMBERS])
{
    und_frame frame;
    und_error err;
    bool good = und_cache_read_item(cache, frame_number, "step", &frame, &err) == UND_OK;
    const und_item *item = good ? und_frame_find(&frame, "step") : NULL;
    good = item && item->type == UND_F64 && und_item_count(item) == STEP_NUMBERS;
    if (good)
        memcpy(step, item->data, STEP_NUMBERS * sizeof *step);
    und_frame_clear(&frame);
    return good;
}

static const char *limit_name(const double step[STEP_NUMBERS])
{
    double limit = step[STEP_LIMIT];
    bool known = limit >= UND_LIMIT_FRAME && limit <= UND_LIMIT_WAVES;
    return known ? und_step_limit_name((und_step_limit)limit) : "unknown";
}

static json_t *step_json(und_cache *cache, int frame_number)
{
    double step[STEP_NUMBERS];
    if (!read_step(cache, frame_number, step))
        return json_null();
    return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "substeps", number(step[STEP_COUNT]), "shortest",
                     number(step[STEP_SHORTEST]), "limit", limit_name(step), "mean_iterations",
                     number(step[STEP_MEAN]), "most_iterations", number(step[STEP_MOST]), "divergence",
                     number(step[STEP_DIVERGENCE]), "unconverged", number(step[STEP_FAILED]));
}

/* Every frame of a short run, some of a long one, and the whole. */
static void print_steps(und_cache *cache, const und_cache_info *info)
{
    enum { ROWS = 24 };
    double all[STEP_NUMBERS] = {[STEP_SHORTEST] = INFINITY}, step[STEP_NUMBERS];
    const char *limit = "";
    int last = info->row_count - 1;
    printf("steps      %7s %9s %10s  %-10s %11s %12s %12s\n", "frame", "substeps", "shortest", "ruled by",
           "iterations", "divergence", "unconverged");
    for (int i = 0; i <= last; i++) {
        if (!read_step(cache, info->rows[i].frame, step))
            continue;
        bool shorter = step[STEP_COUNT] > 0 && step[STEP_SHORTEST] < all[STEP_SHORTEST];
        limit = shorter ? limit_name(step) : limit;
        all[STEP_SHORTEST] = shorter ? step[STEP_SHORTEST] : all[STEP_SHORTEST];
        all[STEP_COUNT] += step[STEP_COUNT];
        all[STEP_MEAN] += step[STEP_COUNT] * step[STEP_MEAN];
        all[STEP_MOST] = fmax(all[STEP_MOST], step[STEP_MOST]);
        all[STEP_DIVERGENCE] = fmax(all[STEP_DIVERGENCE], step[STEP_DIVERGENCE]);
        all[STEP_FAILED] += step[STEP_FAILED];
        if (step[STEP_COUNT] > 0 && (last < ROWS || (long)i * ROWS / last != (i - 1L) * ROWS / last))
            printf("%-10s %7d %9.0f %8.3g s  %-10s %5.1f %5.0f %8.2g 1/s %12.0f\n", "", info->rows[i].frame,
                   step[STEP_COUNT], step[STEP_SHORTEST], limit_name(step), step[STEP_MEAN], step[STEP_MOST],
                   step[STEP_DIVERGENCE], step[STEP_FAILED]);
    }
    if (all[STEP_COUNT] > 0)
        printf("%-10s %7s %9.0f %8.3g s  %-10s %5.1f %5.0f %8.2g 1/s %12.0f\n", "", "all", all[STEP_COUNT],
               all[STEP_SHORTEST], limit, all[STEP_MEAN] / all[STEP_COUNT], all[STEP_MOST],
               all[STEP_DIVERGENCE], all[STEP_FAILED]);
}

/* What a frame tells of its viscosity: item "viscous". */
enum { VISCOUS_STEPS, VISCOUS_MEAN, VISCOUS_MOST, VISCOUS_FAILED, VISCOUS_NUMBERS };

static bool read_viscous(und_cache *cache, int frame_number, double out[VISCOUS_NUMBERS])
{
    und_frame frame;
    und_error err;
    bool good = und_cache_read_item(cache, frame_number, "viscous", &frame, &err) == UND_OK;
    const und_item *item = good ? und_frame_find(&frame, "viscous") : NULL;
    good = item && item->type == UND_F64 && und_item_count(item) == VISCOUS_NUMBERS;
    if (good)
        memcpy(out, item->data, VISCOUS_NUMBERS * sizeof *out);
    und_frame_clear(&frame);
    return good;
}

static json_t *viscous_json(und_cache *cache, int frame_number)
{
    double v[VISCOUS_NUMBERS];
    if (!read_viscous(cache, frame_number, v))
        return NULL;
    return json_pack("{s:o, s:o, s:o, s:o}", "steps", number(v[VISCOUS_STEPS]), "mean_iterations",
                     number(v[VISCOUS_MEAN]), "most_iterations", number(v[VISCOUS_MOST]), "unconverged",
                     number(v[VISCOUS_FAILED]));
}

static void print_viscous(und_cache *cache, const und_cache_info *info)
{
    double steps = 0, sum = 0, most = 0, failed = 0, v[VISCOUS_NUMBERS];
    for (int i = 0; i < info->row_count; i++)
        if (read_viscous(cache, info->rows[i].frame, v)) {
            steps += v[VISCOUS_STEPS];
            sum += v[VISCOUS_STEPS] * v[VISCOUS_MEAN];
            most = fmax(most, v[VISCOUS_MOST]);
            failed += v[VISCOUS_FAILED];
        }
    if (steps > 0)
        printf("viscosity  %.0f steps, %.1f iterations a step, %.0f at most, %.0f unconverged\n", steps,
               sum / steps, most, failed);
}

static bool has_steps(const und_cache_info *info)
{
    return strcmp(info->model, "cells") == 0;
}

static json_t *frames_json(und_cache *cache, const und_cache_info *info)
{
    json_t *frames = json_array();
    for (int i = 0; i < info->row_count; i++) {
        const und_cache_row *row = &info->rows[i];
        char hash[32], file[32];
        snprintf(hash, sizeof hash, "%016" PRIx64, row->state_hash);
        snprintf(file, sizeof file, "%016" PRIx64, row->file_hash);
        json_t *frame =
            json_pack("{s:i, s:o, s:s, s:s, s:o}", "number", row->frame, "time", number(row->time), "hash",
                      hash, "file_hash", file, "ledger", ledger_json(&row->ledger));
        if (frame && has_steps(info))
            json_object_set_new(frame, "step", step_json(cache, row->frame));
        json_t *viscous =
            frame && strcmp(info->model, "levelset") == 0 ? viscous_json(cache, row->frame) : NULL;
        if (viscous)
            json_object_set_new(frame, "viscous", viscous);
        json_t *control = frame ? control_json(cache, row->frame) : NULL;
        if (control)
            json_object_set_new(frame, "control", control);
        json_array_append_new(frames, frame);
    }
    return frames;
}

static json_t *stages_json(const und_cache_info *info)
{
    json_t *stages = json_array();
    for (int i = 0; i < info->stage_count; i++)
        json_array_append_new(stages, json_pack("{s:s, s:o, s:I}", "name", info->stages[i].name, "seconds",
                                                number(info->stages[i].seconds), "calls",
                                                (json_int_t)info->stages[i].calls));
    return stages;
}

static json_t *files_json(const und_cache_file *files, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:I, s:o}", "name", files[i].name, "bytes",
                                              (json_int_t)files[i].bytes, "hash",
                                              json_sprintf("%016" PRIx64, files[i].hash)));
    return list;
}

static und_status print_json(und_cache *cache, const und_cache_info *info, und_error *err)
{
    json_t *all =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:o, s:o, s:o, s:I}", "name", info->name, "model",
                  info->model, "program", info->program, "scene", info->scene_path, "scene_hash",
                  info->scene_hash, "settings", info->settings, "start", info->start, "end", info->end, "fps",
                  number(info->fps), "frames", frames_json(cache, info), "stages", stages_json(info),
                  "peak_memory", (json_int_t)info->peak_memory);
    if (all && info->keeps_files)
        json_object_set_new(all, "files", files_json(info->files, info->file_count));
    if (all && info->flow)
        json_object_set_new(all, "flow",
                            json_pack("{s:s, s:s, s:s, s:s}", "path", info->flow, "pass", info->pass,
                                      "bodies", info->bodies_path, "settings", info->bodies_settings));
    if (all && info->branch)
        json_object_set_new(all, "branch",
                            json_pack("{s:s, s:i}", "path", info->branch, "frame", info->branch_frame));
    char *text = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
    json_decref(all);
    if (!text) {
        err->status = UND_FAILED;
        snprintf(err->text, sizeof err->text, "cannot make JSON of %s: a name in it is not UTF-8",
                 info->folder);
        return UND_FAILED;
    }
    puts(text);
    free(text);
    return UND_OK;
}

static void print_fields(und_cache *cache, int number)
{
    static const char *const types[] = {"float", "double", "int", "byte"};
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    und_error err;
    if (und_cache_read(cache, number, &frame, &err) != UND_OK) {
        printf("frame %d cannot be read: %s\n", number, err.text);
        und_frame_clear(&frame);
        return;
    }
    char grid[128];
    print_grid(grid, sizeof grid, &frame.grid);
    printf("grid       %s\n", grid);
    printf("fields     of frame %d:\n", number);
    for (int i = 0; i < frame.count; i++) {
        const und_item *item = &frame.items[i];
        char bytes[32];
        print_bytes(bytes, sizeof bytes, (double)und_item_bytes(item));
        printf("%-10s %-20s %-8s %-6s", "", item->name, item->unit, types[item->type]);
        for (int k = 0; k < item->rank; k++)
            printf("%s%zu", k ? " x " : " ", item->dim[k]);
        printf("  %s%s\n", bytes, item->is_static ? ", once" : "");
    }
    und_frame_clear(&frame);
}

static void print_ledger(const und_ledger *l)
{
    double expected =
        l->start + l->sources - l->drains - l->left - l->spray_out + l->spray_back + l->correction;
    printf("ledger     start %.6g + sources %.6g - drains %.6g - left %.6g - spray out %.6g + back %.6g\n",
           l->start, l->sources, l->drains, l->left, l->spray_out, l->spray_back);
    printf("           + correction %.3g = %.9g m3, measured %.9g m3\n", l->correction, expected,
           l->measured);
}

/* What solids kept from passing them, and pressed into what was full, as the last frame has it. */
static void print_at_solids(und_cache *cache, int number)
{
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    und_error err;
    if (und_cache_read(cache, number, &frame, &err) == UND_OK)
        for (int i = 0; i < frame.count; i++) {
            const und_item *item = &frame.items[i];
            const bool leaked = strcmp(item->name, "solid/leaked") == 0,
                       squeezed = strcmp(item->name, "solid/squeezed") == 0;
            if (!(leaked || squeezed) || item->type != UND_F64 || item->rank != 1)
                continue;
            printf("%s:", leaked ? "leaked     taken out at solids, each"
                                 : "squeezed   by solids into full cells, each");
            for (size_t k = 0; k < item->dim[0]; k++)
                printf(" %.3g", ((const double *)item->data)[k]);
            printf(" m3\n");
        }
    und_frame_clear(&frame);
}

/* Copies of what the scene, and the file of bodies, read. */
static void print_files(const und_cache_info *info)
{
    char size[32];
    double bytes = 0;
    int count = info->file_count + info->bodies_file_count;
    for (int i = 0; i < info->file_count; i++)
        bytes += (double)info->files[i].bytes;
    for (int i = 0; i < info->bodies_file_count; i++)
        bytes += (double)info->bodies_files[i].bytes;
    print_bytes(size, sizeof size, bytes);
    if (count > 0)
        printf("files      %d that the scene reads, %s\n", count, size);
}

static void print_info(und_cache *cache, const und_cache_info *info)
{
    printf("name       %s\nmodel      %s\nprogram    %s\nscene      %s (%s)\n", info->name, info->model,
           info->program, info->scene_path, info->scene_hash);
    if (info->settings && *info->settings)
        printf("settings   %s\n", info->settings);
    print_files(info);
    printf("frames     %d to %d at %g per second, %d written", info->start, info->end, info->fps,
           info->row_count);
    int missing = info->end - info->start + 1 - info->row_count;
    if (missing > 0 && info->flow)
        printf(", %d to come: undine %s --force makes them", missing, info->pass);
    else if (missing > 0)
        printf(", %d to come: --resume goes on", missing);
    printf("\n");
    if (info->flow && *info->bodies_path)
        printf("flow       %s, with the bodies of %s\n", info->flow, info->bodies_path);
    else if (info->flow)
        printf("flow       %s, with what undine %s made of it (%s)\n", info->flow, info->pass,
               info->bodies_settings);
    if (info->branch)
        printf("branch     of %s, whose frames up to %d are its first\n", info->branch, info->branch_frame);
    if (info->row_count > 0) {
        print_fields(cache, info->rows[info->row_count / 2].frame);
        print_ledger(&info->rows[info->row_count - 1].ledger);
        print_at_solids(cache, info->rows[info->row_count - 1].frame);
        if (has_steps(info))
            print_steps(cache, info);
        if (strcmp(info->model, "levelset") == 0)
            print_viscous(cache, info);
        print_control(cache, info);
    }
    if (info->peak_memory) {
        char memory[32];
        print_bytes(memory, sizeof memory, (double)info->peak_memory);
        printf("memory     %s at most\n", memory);
    }
    if (info->stage_count > 0) {
        printf("\n");
        print_stages(info->stages, info->stage_count);
    }
}

und_status explain_scene(const char *path, und_error *err)
{
    size_t length = strlen(path), used = strlen(err->text);
    struct stat info;
    if (err->status == UND_INVALID && length > 4 && strcmp(path + length - 4, ".lua") == 0 &&
        stat(path, &info) == 0 && S_ISREG(info.st_mode))
        snprintf(err->text + used, sizeof err->text - used,
                 "\nthat is a scene; undine run makes a cache from it");
    return err->status;
}

und_cache *open_to_read(const char *path, und_error *err)
{
    und_cache *cache = und_cache_open(path, err);
    if (!cache)
        explain_scene(path, err);
    return cache;
}

und_status command_info(const args *a, und_error *err)
{
    grids_list list;
    if (grids_read(a->words[0], &list))
        return grids_each(a, &list, command_info, err);
    und_cache *cache = open_to_read(a->words[0], err);
    if (!cache)
        return err->status;
    und_cache_info info = und_cache_describe(cache);
    und_status status = UND_OK;
    if (a->json)
        status = print_json(cache, &info, err);
    else
        print_info(cache, &info);
    und_error ignored; /* reading only: nothing is lost */
    und_cache_close(cache, NULL, 0, &ignored);
    return status;
}
