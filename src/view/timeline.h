/* The place in time of one or two players, what moves it, and the panel along the lower border. */
#ifndef UND_VIEW_TIMELINE_H
#define UND_VIEW_TIMELINE_H

#include "view/action.h"
#include "view/frame_player.h"
#include "view/ui.h"

/* Counts in the frames of the player with the most frames per second; another is shown where its time is the
 * same. */
typedef struct und_timeline {
    double frame; /* the one shown is the nearest whole one */
    bool playing, loop;
    double speed; /* 1: the scene's frames per second; below 0: backwards */
    int first, last;
    double fps;
    double time_zero; /* s; at frame 0 */
    bool every_frame; /* waits for a frame that is late, however slow that is; else it is skipped */
    bool waiting;     /* one is late */
    bool grows;       /* a run is writing more */
    bool percent;     /* plots what is gained or lost, in percent; else volumes */
    bool held;        /* the mouse has it */
    int button;       /* of the panel that is held down; 0: none */
} und_timeline;

und_timeline und_timeline_begin(void); /* at the first frame, standing */
/* Goes on by so many seconds of the wall's clock. */
void und_timeline_advance(und_timeline *line, double seconds);
int und_timeline_frame(const und_timeline *line);
double und_timeline_time(const und_timeline *line); /* s, of that frame */
/* Takes range and rate from the players, and tells them what to show. */
void und_timeline_follow(und_timeline *line, und_frame_player *const *players, int count);
/* Goes to a frame, or the nearest there is; what plays goes on playing from there. */
void und_timeline_go(und_timeline *line, double frame);

/* Its contents, into a panel that is open; pixels high in all. */
void und_timeline_panel(und_timeline *line, und_frame_player *const *players, int count, und_ui *ui);
/* The names of the players, told apart. */
const char *und_timeline_name(und_frame_player *const *players, int count, int which);
/* The colour of a player, 0xRRGGBBAA: its curve, its name. */
unsigned und_timeline_color(int which);

const und_action *und_timeline_actions(int *count); /* their context is the timeline */

/* m3 that a ledger's entries add up to without what a scheme had to put right, and how much of it is missing
 * (below 0) or too much, in percent. */
double und_timeline_due(const und_ledger *ledger);
double und_timeline_gain(const und_ledger *ledger);

#endif
