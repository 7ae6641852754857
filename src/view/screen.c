/* Windows by GLFW; without a display, EGL's surfaceless platform and a buffer in the place of the window. */
#include "view/screen.h"

#include "base/status.h"
#include "view/gl.h"

#include <epoxy/egl.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <stdlib.h>
#include <string.h>

enum { QUEUE = 256 };

struct und_screen {
    GLFWwindow *glfw; /* NULL: offscreen */
    EGLDisplay display;
    EGLContext context;
    und_target target; /* offscreen */
    int width, height;
    und_event queue[QUEUE]; /* a ring; what a person does faster than that is lost */
    int first, count;
};

static const char advice[] =
    "without it, undine run SCENE makes a movie and undine render CACHE --preview pictures";

static void push(und_screen *w, und_event event)
{
    if (w->count < QUEUE)
        w->queue[(w->first + w->count++) % QUEUE] = event;
}

static und_screen *of(GLFWwindow *glfw)
{
    return glfwGetWindowUserPointer(glfw);
}

static unsigned mods_of(int mods)
{
    return (mods & GLFW_MOD_SHIFT ? UND_MOD_SHIFT : 0u) | (mods & GLFW_MOD_CONTROL ? UND_MOD_CONTROL : 0u) |
           (mods & GLFW_MOD_ALT ? UND_MOD_ALT : 0u);
}

/* Where the mouse is, in pixels of the picture: a screen with many dots has more of them than of its own. */
static void mouse(const und_screen *w, double *x, double *y)
{
    int columns, rows;
    glfwGetCursorPos(w->glfw, x, y);
    glfwGetWindowSize(w->glfw, &columns, &rows);
    *x *= columns > 0 ? (double)w->width / columns : 1;
    *y *= rows > 0 ? (double)w->height / rows : 1;
}

static void moved(GLFWwindow *glfw, double x, double y)
{
    und_event event = {.kind = UND_EVENT_MOVE, .x = x, .y = y};
    mouse(of(glfw), &event.x, &event.y);
    push(of(glfw), event);
}

static void pressed(GLFWwindow *glfw, int button, int action, int mods)
{
    und_event event = {
        .kind = UND_EVENT_BUTTON, .button = button, .down = action != GLFW_RELEASE, .mods = mods_of(mods)};
    mouse(of(glfw), &event.x, &event.y);
    if (button < UND_BUTTONS)
        push(of(glfw), event);
}

static void scrolled(GLFWwindow *glfw, double x, double y)
{
    push(of(glfw), (und_event){.kind = UND_EVENT_SCROLL, .x = x, .y = y});
}

static void typed_key(GLFWwindow *glfw, int key, int code, int action, int mods)
{
    (void)code;
    if (key >= 0 && key < UND_KEY_COUNT)
        push(of(glfw), (und_event){.kind = UND_EVENT_KEY,
                                   .key = key,
                                   .down = action != GLFW_RELEASE,
                                   .repeat = action == GLFW_REPEAT,
                                   .mods = mods_of(mods)});
}

static void typed_text(GLFWwindow *glfw, unsigned text)
{
    push(of(glfw), (und_event){.kind = UND_EVENT_TEXT, .text = text});
}

static void resized(GLFWwindow *glfw, int width, int height)
{
    und_screen *w = of(glfw);
    w->width = width;
    w->height = height;
    push(w, (und_event){.kind = UND_EVENT_SIZE, .x = width, .y = height});
}

static void closed(GLFWwindow *glfw)
{
    push(of(glfw), (und_event){.kind = UND_EVENT_CLOSE});
}

static und_status no_window(und_error *err)
{
    const char *why = NULL;
    int code = glfwGetError(&why);
    bool display = code != GLFW_PLATFORM_ERROR;
    return und_error_set(err, UND_FAILED, "%s (%s); %s",
                         display ? "OpenGL 3.3 is missing: the graphics driver has none"
                                 : "no display: DISPLAY names no X server that answers",
                         why ? why : "the system does not say why", advice);
}

static und_status open_glfw(und_screen *w, const und_screen_def *def, und_error *err)
{
    if (!glfwInit())
        return no_window(err);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_DEPTH_BITS, 24);
    w->glfw = glfwCreateWindow(def->width, def->height, def->title, NULL, NULL);
    if (!w->glfw) { /* a small device may have ES alone */
        glfwDefaultWindowHints();
        glfwWindowHint(GLFW_CLIENT_API, GLFW_OPENGL_ES_API);
        glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
        w->glfw = glfwCreateWindow(def->width, def->height, def->title, NULL, NULL);
    }
    if (!w->glfw)
        return no_window(err);
    glfwMakeContextCurrent(w->glfw);
    glfwSwapInterval(def->no_wait ? 0 : 1);
    glfwSetWindowUserPointer(w->glfw, w);
    glfwGetFramebufferSize(w->glfw, &w->width, &w->height);
    glfwSetCursorPosCallback(w->glfw, moved);
    glfwSetMouseButtonCallback(w->glfw, pressed);
    glfwSetScrollCallback(w->glfw, scrolled);
    glfwSetKeyCallback(w->glfw, typed_key);
    glfwSetCharCallback(w->glfw, typed_text);
    glfwSetFramebufferSizeCallback(w->glfw, resized);
    glfwSetWindowCloseCallback(w->glfw, closed);
    return UND_OK;
}

static EGLContext egl_context(EGLDisplay display, EGLenum api, const EGLint *wanted)
{
    return eglBindAPI(api) ? eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, wanted)
                           : EGL_NO_CONTEXT;
}

static und_status open_offscreen(und_screen *w, const und_screen_def *def, und_error *err)
{
    static const EGLint desktop[] = {EGL_CONTEXT_MAJOR_VERSION,
                                     3,
                                     EGL_CONTEXT_MINOR_VERSION,
                                     3,
                                     EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                     EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                     EGL_NONE};
    static const EGLint small[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    if (!epoxy_has_egl() || !epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
        return und_error_set(err, UND_FAILED,
                             "OpenGL without a display is missing: EGL has no surfaceless platform; %s",
                             advice);
    w->display = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (w->display == EGL_NO_DISPLAY || !eglInitialize(w->display, NULL, NULL))
        return und_error_set(err, UND_FAILED, "OpenGL is missing: EGL does not start; %s", advice);
    w->context = def->small ? EGL_NO_CONTEXT : egl_context(w->display, EGL_OPENGL_API, desktop);
    if (w->context == EGL_NO_CONTEXT)
        w->context = egl_context(w->display, EGL_OPENGL_ES_API, small);
    if (w->context == EGL_NO_CONTEXT ||
        !eglMakeCurrent(w->display, EGL_NO_SURFACE, EGL_NO_SURFACE, w->context))
        return und_error_set(err, UND_FAILED, "OpenGL 3.3 is missing: the graphics driver has none; %s",
                             advice);
    w->width = def->width;
    w->height = def->height;
    return und_gl_target(&w->target, GL_RGBA8, def->width, def->height, true, err);
}

und_screen *und_screen_create(const und_screen_def *def, und_error *err)
{
    und_screen *w = und_alloc(1, sizeof *w, "a window", err);
    if (!w)
        return NULL;
    if ((def->offscreen ? open_offscreen(w, def, err) : open_glfw(w, def, err)) != UND_OK) {
        und_screen_destroy(w);
        return NULL;
    }
    return w;
}

void und_screen_destroy(und_screen *w)
{
    if (!w)
        return;
    if (w->context) {
        und_gl_target_clear(&w->target);
        eglMakeCurrent(w->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglDestroyContext(w->display, w->context);
    }
    if (w->glfw) /* displays and drivers are the process's and stay: unloading them leaves what they forget */
        glfwDestroyWindow(w->glfw);
    free(w);
}

void und_screen_size(const und_screen *w, int *width, int *height)
{
    *width = w->width;
    *height = w->height;
}

double und_screen_scale(const und_screen *w)
{
    float x = 1, y = 1;
    if (w->glfw)
        glfwGetWindowContentScale(w->glfw, &x, &y);
    return x > 1 ? (double)x : 1;
}

bool und_screen_event(und_screen *w, und_event *event)
{
    if (w->glfw && w->count == 0)
        glfwPollEvents();
    if (w->count == 0)
        return false;
    *event = w->queue[w->first];
    w->first = (w->first + 1) % QUEUE;
    w->count--;
    return true;
}

void und_screen_wait(und_screen *w, double seconds)
{
    if (w->glfw && w->count == 0)
        glfwWaitEventsTimeout(seconds);
}

void und_screen_bind(und_screen *w)
{
    glBindFramebuffer(GL_FRAMEBUFFER, w->target.buffer);
}

void und_screen_show(und_screen *w)
{
    if (w->glfw)
        glfwSwapBuffers(w->glfw);
    else
        glFinish();
}
