/* Floating bodies put into a cached flow of cells (Foster & Metaxas 1996, section 5): dropped in, moved
 * about, and seen at once, since the flow does not feel them.
 *
 * What is shown is worked out by a thread of its own from the text that would be saved, frame by frame from
 * the first: so `undine float CACHE FILE` makes the same bits of the file.  All calls are the window's
 * thread's. */
#ifndef UND_VIEW_EDITOR_H
#define UND_VIEW_EDITOR_H

#include "view/frame_player.h"
#include "view/painter.h"

typedef struct und_editor und_editor;

/* Can bodies be put into what the player shows?  Only into cells whose frames keep the flow. */
bool und_editor_fits(const und_frame_player *player);
/* Of a cache that `undine float` made it begins with the bodies in it. */
und_editor *und_editor_create(const und_frame_player *player, und_error *err);
void und_editor_destroy(und_editor *editor); /* the thread ends after its frame */

/* The frame with the bodies at that moment, or as far as they have come; the frame itself where there are
 * none. Borrowed until the next call, like the frame. */
const und_frame *und_editor_dress(und_editor *editor, const und_frame *frame);
/* Has more been worked out since, so that the frame shown should be dressed and given to the painter again?
 */
bool und_editor_has_news(und_editor *editor);

/* The mouse over the picture; `painter` says what is under it.  True: the editor took it. */
bool und_editor_event(und_editor *editor, const und_event *event, const und_lens *lens,
                      const und_painter *painter);
/* How many times as large as they are heights are drawn; 1 at first. */
void und_editor_stretch(und_editor *editor, double factor);
void und_editor_annotate(und_editor *editor, const und_lens *lens, und_ui *ui); /* what is selected */
void und_editor_panel(und_editor *editor, und_ui *ui); /* a panel of its own, while it is open */
const und_action *und_editor_actions(const und_editor *editor, int *count); /* their context is the editor */
void und_editor_open(und_editor *editor, bool open);

/* What the last saving or loading came to, or what went wrong; *number counts them. */
const char *und_editor_note(const und_editor *editor, int *number);

/* The same without a mouse. */
typedef enum und_buoy_kind {
    UND_BUOY_BALL,
    UND_BUOY_BOX,
    UND_BUOY_CYLINDER,
    UND_BUOY_EGG,
    UND_BUOY_KINDS
} und_buoy_kind;
typedef struct und_buoy {
    und_buoy_kind kind;
    double size[3];     /* m; a ball: its diameter; a cylinder: diameter and height; else along x, y and z */
    double density;     /* kg/m3 */
    double at[3];       /* m */
    double turn[3];     /* degrees */
    double velocity[3]; /* m/s, when it is let go */
    double spin[3];     /* degrees/s, likewise */
    double release;     /* s; when it is let go */
    double drag, bounce, friction;
    float color[3]; /* linear; negative: its own */
} und_buoy;
und_buoy und_buoy_default(void);
int und_editor_count(const und_editor *editor);
und_buoy und_editor_get(const und_editor *editor, int i);
int und_editor_add(und_editor *editor, const und_buoy *buoy); /* which it is; -1: no memory */
void und_editor_set(und_editor *editor, int i, const und_buoy *buoy);
void und_editor_remove(und_editor *editor, int i);
/* Those of a file that stay as it has them: how many, not counted among the others; and without them. */
int und_editor_fixed(const und_editor *editor);
void und_editor_drop_fixed(und_editor *editor);
und_status und_editor_save(und_editor *editor, const char *path, und_error *err);
und_status und_editor_load(und_editor *editor, const char *path, und_error *err);
/* Waits until all frames are worked out; how many there are, of how many. */
void und_editor_settle(und_editor *editor);
void und_editor_progress(und_editor *editor, int *done, int *all);

#endif
