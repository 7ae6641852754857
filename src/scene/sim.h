/* A simulation: a scene and its liquid, advanced frame by frame. */
#ifndef UND_SCENE_SIM_H
#define UND_SCENE_SIM_H

#include "liquid/liquid.h"
#include "scene/scene.h"

und_liquid *und_sim_liquid(und_sim *sim);

/* The bodies of a scene in the liquid of cells of another, or of the same. */
und_floating_bodies_def und_sim_floating_bodies_def(const und_scene_view *bodies,
                                                    const und_scene_view *liquid, int threads);

/* One substep of the scene; sets *frame_done when the next frame's time is reached.  und_sim_advance loops
 * over it. */
und_status und_sim_step(und_sim *sim, bool *frame_done, und_error *err);

/* After trouble: is the state as it was before the part that failed? */
bool und_sim_intact(const und_sim *sim);

/* The part of a substep that the model does at once: what a program calls that must answer to signals. */
und_status und_sim_part(und_sim *sim, bool *step_done, bool *frame_done, und_error *err);

/* The part of a step of any length, which the scene's frames do not bind: what a person plays with.  The
 * liquid's own clock counts from then on. */
und_status und_sim_play_part(und_sim *sim, double dt, bool *step_done, und_error *err);
double und_sim_to_frame(const und_sim *sim); /* s to the next whole frame; 0: it is one */
/* What und_sim_frame gives, into another frame; what it had is cleared.  It may borrow from the liquid. */
und_status und_sim_write_frame(und_sim *sim, und_frame *frame, und_error *err);
void und_sim_changed(und_sim *sim); /* a hand did something to the liquid: the frame is a new one */

/* The whole state, borrowed from the model, and back. */
und_status und_sim_save(und_sim *sim, und_frame *state, und_error *err);
und_status und_sim_restore(und_sim *sim, const und_frame *state, und_error *err);
/* The state of another scene at a whole frame, to go on from, or one after it that the own scene made: the
 * model, the grid and the frames' times must be the same; the error says which is not. */
und_status und_sim_branch(und_sim *sim, const und_frame *state, und_error *err);

#endif
