/* What the files of the editor share. */
#ifndef UND_VIEW_EDITOR_PARTS_H
#define UND_VIEW_EDITOR_PARTS_H

#include "view/editor.h"

#include <pthread.h>

enum { UND_BUOYS = 4096 }; /* at most */

/* Works out the bodies of a text, frame by frame. */
typedef struct und_floater {
    /* The thread's own. */
    pthread_t thread;
    und_cache *given, *flow; /* the cache that is shown, and the one that has its flow */
    und_scene *flow_scene;
    und_frame *kept; /* [rows]: what bodies feel of them; no items: not read yet */
    size_t kept_bytes;
    und_scene *scene;                     /* the text's; NULL: no bodies */
    und_floating_bodies *floating_bodies; /* at the last frame done; NULL: none is */
    und_frame own;                        /* the flow's frame that was read last, where it is not kept */

    /* Changed by the thread alone, under the lock. */
    und_cache_row *row; /* [rows]: of the flow's frames */
    int rows;

    /* Both threads', under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    bool started, stop;
    char *text, *path;     /* what is to be worked out, and what errors call it; NULL: no bodies */
    bool text_kept;        /* its files are those that the cache given keeps */
    unsigned wanted;       /* counts texts */
    unsigned look, looked; /* counts how often the flow was to be opened again, and was */
    unsigned made;         /* the text that these are of */
    und_frame *bodies;     /* [rows]: what a frame has of them; triangles are in the first alone */
    int count;             /* of frames done */
    bool finished;
    char trouble[512]; /* "": none */
} und_floater;

und_status und_floater_open(und_floater *floater, const und_frame_player *player, und_error *err);
void und_floater_close(und_floater *floater);
/* Begins with another text, which it takes over; NULL: no bodies. */
void und_floater_start(und_floater *floater, char *text, const char *path, bool kept);
/* The flow may have other frames than before: more, where a run is writing it. */
void und_floater_look(und_floater *floater);
/* The row of the frame nearest to a number; under the lock. */
int und_floater_row(const und_floater *floater, int number);

struct und_editor {
    und_floater floater;
    const und_frame_player *player;
    und_cache_row cached_last; /* what it had when the flow was opened last */
    int cached_rows;
    und_buoy *buoys;
    int count, room;
    int selected;     /* -1: none */
    double stretch;   /* of heights, as drawn */
    char *fixed;      /* a text that was loaded and stays as it is; NULL: none */
    char *fixed_path; /* its file */
    bool fixed_kept;  /* its files are those that the cache shown keeps, not what is beside it */
    int fixed_count;  /* bodies in it */
    double damping;   /* of float{} */
    int nodes;

    und_frame dressed;
    unsigned dressed_made;  /* what it was dressed with */
    int dressed_row, shown; /* row; frame number */
    double shown_time;      /* s */
    bool at_first;          /* the first frame is shown */

    double low[3], high[3]; /* the domain, m */
    bool flat;              /* the flow is one cell deep */

    bool open, moves; /* moves: a body hangs on the mouse */
    int tool;         /* 0: selects and moves; 1 + kind: drops such */
    und_buoy model;   /* of what is dropped */
    bool painted;     /* its colour was chosen; else they have all colours by turns */
    double grip[3];   /* from where the mouse holds a body to its middle, m */
    char save_path[256], load_path[256];
    char note[512];
    int notes;
};

/* editor_text.c */
/* The file as it would be saved; NULL with the error set where there is no memory. */
char *und_editor_text(const und_editor *editor, und_error *err);
/* Takes over the bodies of a text. */
/* `kept`: the cache that the text is of, with the files that it reads; NULL: they are beside `path`. */
und_status und_editor_read(und_editor *editor, const char *text, const char *path, const und_cache_info *kept,
                           und_error *err);

void und_editor_follow(und_editor *editor);  /* sees whether the player has grown */
void und_editor_changed(und_editor *editor); /* works it all out again */
void und_editor_say(und_editor *editor, const char *format, ...) __attribute__((format(printf, 2, 3)));
void und_buoy_paint(und_buoy *buoy, int which); /* editor_panel.c: one of the colours to choose from */
double und_buoy_radius(const und_buoy *buoy);   /* of a ball around it */

#endif
