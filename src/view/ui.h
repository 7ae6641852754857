/* Menus, panels and what is written over the picture: Dear ImGui, as far as the viewer needs it, for C.
 *
 * A widget's label is its name: scripts find it by that (und_ui_where), so within a panel labels differ.
 * Places are pixels from the upper left corner of the window, colours 0xRRGGBBAA. */
#ifndef UND_VIEW_UI_H
#define UND_VIEW_UI_H

#include "view/event.h"

#include <undine/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct und_ui und_ui;

und_ui *und_ui_create(double scale,
                      und_error *err); /* needs the window's context; scale 1: 15 pixels a line */
void und_ui_destroy(und_ui *ui);

/* True: a panel or a menu took it, and it is nobody else's. */
bool und_ui_event(und_ui *ui, const und_event *event);
void und_ui_begin(und_ui *ui, int width, int height, double seconds); /* since the last frame */
void und_ui_end(und_ui *ui);                                          /* draws it all */

bool und_ui_hovered(const und_ui *ui);                     /* is the mouse over a panel or a menu? */
bool und_ui_mouse(const und_ui *ui, double *x, double *y); /* false: it is there, or not known */

/* Where a widget was drawn last, and whether it was: x0, y0, x1, y1.  Names of menu entries are their labels.
 */
bool und_ui_where(const und_ui *ui, const char *label, double rect[4]);

/* A panel: closed by und_ui_panel_end, also where begin says false (folded, nothing to add).  It stands at
 * x, y at first (negative: from the right or lower border) and is as large as its contents, or `width` wide
 * where that is above 0. */
bool und_ui_panel(und_ui *ui, const char *title, double x, double y, double width);
void und_ui_panel_end(und_ui *ui);
/* The same without title, border or background, fixed where it is: what the corner shows. */
bool und_ui_corner(und_ui *ui, const char *name, double x, double y);

/* All along the lower border, with a background; and its height as drawn last. */
bool und_ui_strip(und_ui *ui, const char *name);
double und_ui_strip_height(const und_ui *ui);

bool und_ui_section(und_ui *ui, const char *label, bool open); /* folds; true: show what is in it */
void und_ui_text(und_ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool und_ui_button(und_ui *ui, const char *label);
bool und_ui_check(und_ui *ui, const char *label, bool *value);
bool und_ui_slider(und_ui *ui, const char *label, double *value, double low, double high, const char *format,
                   bool logarithmic);
bool und_ui_integer(und_ui *ui, const char *label, int *value, int low, int high);
bool und_ui_choice(und_ui *ui, const char *label, int *value, const char *const *names,
                   int count);                                             /* a list */
bool und_ui_radio(und_ui *ui, const char *label, bool on);                 /* true: it was chosen now */
bool und_ui_field(und_ui *ui, const char *label, char *text, size_t size); /* true: enter was pressed */
void und_ui_column(und_ui *ui, double x);      /* the next one on the same line, so far from the left */
void und_ui_beside(und_ui *ui);                /* the next one on the same line */
void und_ui_line(und_ui *ui);                  /* a line across */
void und_ui_tip(und_ui *ui, const char *text); /* for the widget before, when the mouse rests on it */
void und_ui_width(und_ui *ui, double width);   /* of the next widget */

/* An area to draw into, and the mouse over it. */
typedef struct und_ui_area {
    double x0, y0, x1, y1;
    bool hovered, held; /* held: the left button went down on it and is still down */
    double mouse_x, mouse_y;
} und_ui_area;
und_ui_area und_ui_canvas(und_ui *ui, const char *label, double width,
                          double height); /* width 0: what is left */

/* Menus, in the bar on top: und_ui_menu_bar, then menus, then und_ui_menu_bar_end. */
void und_ui_menu_bar(und_ui *ui);
void und_ui_menu_bar_end(und_ui *ui);
bool und_ui_menu(und_ui *ui, const char *label); /* where true: entries, then und_ui_menu_end */
void und_ui_menu_end(und_ui *ui);
bool und_ui_entry(und_ui *ui, const char *label, const char *key, bool checked, bool enabled);
double und_ui_menu_height(const und_ui *ui);

/* Over the picture: in a panel that is open, into it; else behind all panels. */
void und_ui_draw_line(und_ui *ui, double x0, double y0, double x1, double y1, unsigned color, double width);
void und_ui_draw_rect(und_ui *ui, double x0, double y0, double x1, double y1, unsigned color, bool filled);
void und_ui_draw_text(und_ui *ui, double x, double y, unsigned color, const char *text);
void und_ui_draw_circle(und_ui *ui, double x, double y, double radius, unsigned color, double width);
void und_ui_text_size(const und_ui *ui, const char *text, double *width, double *height);

#ifdef __cplusplus
}
#endif
#endif
