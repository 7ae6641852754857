/* What the files of the viewer's window share. */
#ifndef UND_VIEW_VIEW_PARTS_H
#define UND_VIEW_VIEW_PARTS_H

#include "base/file.h"
#include "view/action.h"
#include "view/editor.h"
#include "view/painter.h"
#include "view/screen.h"
#include "view/slice.h"
#include "view/ui.h"
#include "view/view.h"

enum { UND_TOOL_BALL = UND_TOOLS, UND_VIEW_TOOLS }; /* after what a hand does: letting a ball go */
enum { UND_VIEW_ACTIONS = 128 };

/* One of the window's parts: where frames come from, and who draws them. */
typedef struct und_pane {
    und_live *live; /* or */
    und_frame_player *player;
    und_scene *own; /* of what runs: a copy for looks and the camera, since the other is its thread's */
    const und_scene_view *scene;
    und_painter *painter;   /* NULL: no frame has come yet */
    und_slice *slice;       /* NULL: such frames have none */
    und_editor *editor;     /* NULL: bodies cannot be put into it */
    const und_frame *shown; /* of the player, for the editor to dress again */
    und_picture_def look;   /* the scene's; without a camera, with what is framed of a cache */
    und_lens lens;          /* as drawn last */
    double time;            /* of the frame shown, s */
    int number;
    und_live_state state; /* as it was when the picture began */
    char trouble[512];    /* "": none */
} und_pane;

/* The mouse as a tool. */
typedef struct und_mouse_tools {
    int tool;
    double radius;              /* m */
    double strength[UND_TOOLS]; /* by tool */
    double usual[UND_TOOLS];
    double period;          /* s, of the stir */
    double flow, direction; /* m/s and degrees: of what is painted */
    double ball_radius, ball_density;
    double rain; /* what rain is turned on with */
    bool down;
    bool shown; /* the mouse is over the liquid, at */
    double place[3];
} und_mouse_tools;

struct und_view {
    und_view_def def;
    und_screen *window;
    und_ui *ui;
    und_pane pane[UND_VIEW_PANES];
    und_camera camera;
    double size; /* of what is shown, m */
    bool framed; /* the camera has its first place */
    bool follow; /* the scene's camera, which may move */
    und_timeline timeline;
    und_mouse_tools tools;
    char scene_path[256], state_path[256]; /* where moments are saved */

    double mouse[2];
    bool button[UND_BUTTONS];
    bool key[UND_KEY_COUNT];
    unsigned mods;
    bool quit, help, bare; /* bare: no panels */
    int width, height;
    double clock, picture_time, picture_rate; /* s; s a picture takes; pictures a second */
    double drawn[64];                         /* when the last ones were */
    int pictures;
    char shot_path[UND_PATH_MAX]; /* where the next picture is kept; "": nowhere */
    bool shot_quietly;            /* for a script: no word of it in the picture that follows */
    und_error shot_error;         /* of the last one */
    int shots;
    char note[512];
    double note_until, last_event;
    int notes_seen;
};

/* pane.c */
und_status und_pane_open(und_pane *pane, const und_view_def *def, int index, und_error *err);
void und_pane_close(und_pane *pane);
und_status und_pane_take(und_pane *pane, und_error *err); /* the newest frame, if there is one */
void und_pane_draw(und_pane *pane, double seconds);
/* Where the scene has its camera at the frame's time; false: nowhere, all is to be seen. */
bool und_pane_camera(const und_pane *pane, double eye[3], double look[3], double *view_angle);

/* mouse_tools.c: tools of live liquids */
void und_mouse_tools_reset(und_view *view);                         /* sizes that fit what is shown */
bool und_mouse_tools_event(und_view *view, const und_event *event); /* true: the hand took it */
void und_mouse_tools_annotate(und_view *view);                      /* where the hand is */
void und_mouse_tools_panel(und_view *view);
const und_action *und_mouse_tools_actions(int *count); /* their context is the view */

/* menus.c */
typedef struct und_choice {
    const und_action *action;
    void *context;
} und_choice;
int und_menus_collect(und_view *view, und_choice list[UND_VIEW_ACTIONS]); /* all that can be done now */
void und_menus_draw(und_view *view);
bool und_menus_key(und_view *view, const und_event *event); /* true: an action has that key */

/* actions.c: the window's own; their context is the view */
const und_action *und_view_actions(int *count);
void und_view_look_home(und_view *view);
und_status und_view_shoot(und_view *view, const char *path, und_error *err);

#endif
