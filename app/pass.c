#include "pass.h"

#include "base/parallel.h"
#include "base/status.h"

static und_status read_frame(pass *p, int row, und_error *err)
{
    und_status status = UND_OK;
    und_frame_clear(&p->frame);
    STAGE (&p->stage[PASS_READ])
        status = und_cache_read(p->flow, p->info.rows[row].frame, &p->frame, err);
    return status;
}

static und_status open_cache(pass *p, und_error *err)
{
    und_cache_def *def = &p->def;
    def->folder = p->folder;
    def->model = p->info.model;
    def->scene_path = p->info.scene_path;
    def->scene_text = p->info.scene_text;
    def->settings = p->info.settings;
    def->start = p->info.rows[p->first].frame;
    def->end = p->info.rows[p->last].frame;
    def->fps = p->info.fps;
    def->compress = p->args->compress;
    def->threads = und_threads(p->args->threads);
    def->flow = p->flow_folder;
    p->cache = und_cache_create(def, p->args->force, err);
    return p->cache ? UND_OK : err->status;
}

static und_status write_frame(pass *p, const pass_class *class, progress *bar, int row, und_error *err)
{
    und_frame made = und_frame_empty(p->frame.number, p->frame.time, p->frame.grid);
    uint64_t hash = 0;
    und_status status = class->frame(p, &made, &hash, err);
    STAGE (&p->stage[PASS_WRITE])
        if (status == UND_OK)
            status = und_cache_write(p->cache, &made, &p->info.rows[row].ledger, hash, err);
    und_frame_clear(&made);
    progress_frame(bar, p->info.rows[row].frame);
    return status;
}

static und_status make_frames(pass *p, const pass_class *class, progress *bar, und_error *err)
{
    und_status status = write_frame(p, class, bar, p->first, err);
    for (int row = p->first + 1; row <= p->last && status == UND_OK; row++) {
        if (signals_stop())
            return UND_STOPPED;
        status = read_frame(p, row, err);
        STAGE (&p->stage[PASS_MAKE])
            if (status == UND_OK)
                status = class->advance(p, err);
        if (status == UND_OK)
            status = write_frame(p, class, bar, row, err);
    }
    return status;
}

static void print_made(const pass *p, const pass_class *class, und_status status)
{
    if (status == UND_STOPPED) {
        printf("stopped; what was made so far is in %s; --force begins again\n", p->folder);
        return;
    }
    printf("cache  %s (frames %d to %d", p->folder, p->info.rows[p->first].frame,
           p->info.rows[p->last].frame);
    if (class->print)
        class->print(p);
    printf(", in the flow of %s)\n", p->flow_folder);
}

static und_status close_pass(pass *p, const pass_class *class, und_status status, und_error *err)
{
    und_error later = {0};
    if (p->cache && und_cache_close(p->cache, p->stage, PASS_STAGES, &later) != UND_OK &&
        (status == UND_OK || status == UND_STOPPED)) {
        *err = later;
        status = later.status;
    }
    if (p->args->profile && (status == UND_OK || status == UND_STOPPED))
        print_stages(p->stage, PASS_STAGES);
    und_frame_clear(&p->frame);
    class->close(p);
    und_cache_close(p->flow, NULL, 0, &later); /* reading only: nothing is lost */
    return status;
}

und_status pass_run(const pass_class *class, const args *a, void *own, und_error *err)
{
    pass p = {.args = a, .own = own};
    p.stage[PASS_READ].name = "cache read";
    p.stage[PASS_MAKE].name = class->name;
    p.stage[PASS_WRITE].name = "cache write";
    und_status status = flow_open(a, p.flow_folder, &p.flow, &p.info, err);
    if (status == UND_OK)
        status = flow_rows(a, &p.info, &p.first, &p.last, err);
    if (status == UND_OK)
        status = class->open(&p, err);
    if (status == UND_OK)
        status = read_frame(&p, p.first, err);
    STAGE (&p.stage[PASS_MAKE])
        if (status == UND_OK)
            status = class->start(&p, err);
    if (status == UND_OK)
        status = open_cache(&p, err);
    if (status == UND_OK) {
        progress bar;
        signals_install();
        progress_start(&bar, class->name, p.info.rows[p.first].frame, p.info.rows[p.last].frame, a->quiet);
        bar.only_draws = true;
        status = make_frames(&p, class, &bar, err);
        progress_end(&bar);
    }
    if ((status == UND_OK || status == UND_STOPPED) && !a->quiet)
        print_made(&p, class, status);
    return close_pass(&p, class, status, err);
}
