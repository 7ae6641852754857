/* What a person does, from the window's system or from a script. */
#ifndef UND_VIEW_EVENT_H
#define UND_VIEW_EVENT_H

#include <stdbool.h>

typedef enum und_event_kind {
    UND_EVENT_MOVE,   /* the mouse is at x, y */
    UND_EVENT_BUTTON, /* a button of the mouse goes down or up, at x, y */
    UND_EVENT_SCROLL, /* by x, y notches */
    UND_EVENT_KEY,
    UND_EVENT_TEXT, /* a character was typed */
    UND_EVENT_SIZE, /* the window is now x by y pixels */
    UND_EVENT_CLOSE
} und_event_kind;

enum { UND_BUTTON_LEFT, UND_BUTTON_RIGHT, UND_BUTTON_MIDDLE, UND_BUTTONS };
enum { UND_MOD_SHIFT = 1, UND_MOD_CONTROL = 2, UND_MOD_ALT = 4 };

/* Keys: the character that an American keyboard has there, letters in capitals, or one of these; the numbers
 * are GLFW's. */
enum {
    UND_KEY_ESCAPE = 256,
    UND_KEY_ENTER,
    UND_KEY_TAB,
    UND_KEY_BACKSPACE,
    UND_KEY_INSERT,
    UND_KEY_DELETE,
    UND_KEY_RIGHT,
    UND_KEY_LEFT,
    UND_KEY_DOWN,
    UND_KEY_UP,
    UND_KEY_PAGE_UP,
    UND_KEY_PAGE_DOWN,
    UND_KEY_HOME,
    UND_KEY_END,
    UND_KEY_F1 = 290,
    UND_KEY_SHIFT = 340,
    UND_KEY_CONTROL = 341,
    UND_KEY_COUNT = 349
};

typedef struct und_event {
    und_event_kind kind;
    double x, y; /* pixels from the upper left corner */
    int button, key;
    bool down;
    bool repeat; /* the key is down already, and stays */
    unsigned mods;
    unsigned text; /* Unicode */
} und_event;

#endif
