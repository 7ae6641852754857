/* Undine animates liquids.  This is the whole public interface.
 *
 *     und_error err;
 *     und_scene *scene = und_scene_load("scenes/beach.lua", NULL, 0, &err);
 *     und_sim *sim = und_sim_create(scene, 0, &err);
 *     while (und_sim_frame_number(sim) < und_scene_end(scene) && und_sim_advance(sim, &err) == UND_OK)
 *         use(und_frame_find(und_sim_frame(sim), "surface"));
 */
#ifndef UNDINE_UNDINE_H
#define UNDINE_UNDINE_H

#include <undine/cells.h>
#include <undine/columns.h>
#include <undine/levelset.h>
#include <undine/types.h>
#include <undine/waves.h>

#ifdef __cplusplus
extern "C" {
#endif

const char *und_version(void);

typedef struct und_scene und_scene;
typedef struct und_sim und_sim;

/* A value that replaces the default of a scene's param(): --set name=value. */
typedef struct und_setting {
    const char *name, *value;
} und_setting;

und_scene *und_scene_load(const char *path, const und_setting *settings, int count, und_error *err);
void und_scene_destroy(und_scene *scene);
const char *und_scene_name(const und_scene *scene);
int und_scene_start(const und_scene *scene); /* number of the first frame */
int und_scene_end(const und_scene *scene);   /* number of the last frame, inclusive */
double und_scene_fps(const und_scene *scene);

/* A simulation stands at its first frame when created.  threads == 0: one per core. */
und_sim *und_sim_create(und_scene *scene, int threads, und_error *err);
void und_sim_destroy(und_sim *sim);
und_status und_sim_advance(und_sim *sim, und_error *err); /* to the next frame */
int und_sim_frame_number(const und_sim *sim);
const und_frame *und_sim_frame(und_sim *sim); /* valid until the next call on sim */
und_ledger und_sim_ledger(const und_sim *sim);
uint64_t und_sim_hash(const und_sim *sim); /* of the whole state */

#ifdef __cplusplus
}
#endif
#endif
