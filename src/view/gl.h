/* OpenGL 3.3, or ES 3.0: programs, textures, targets.  Only the thread of the window calls these. */
#ifndef UND_VIEW_GL_H
#define UND_VIEW_GL_H

#include <epoxy/gl.h>
#include <undine/types.h>

bool und_gl_is_software(void); /* does the driver draw with the processor that the liquid runs on? */

/* A program from the text of its shaders, which begin after the line of the version: both languages are meant
 * to take them (`in`, `out`, texture(), texelFetch(); no implicit int to float).  Up to twelve pieces
 * each, NULL at the end: what several programs share is a piece.  The error names the shader's own complaint.
 */
enum { UND_GL_PIECES = 12 };
typedef struct und_program_def {
    const char *name;
    const char *vertex[UND_GL_PIECES], *fragment[UND_GL_PIECES];
} und_program_def;
GLuint und_gl_program(const und_program_def *def, und_error *err);

/* Uniforms of the program in use; a name that it does not have is nothing wrong. */
void und_gl_int(GLuint program, const char *name, int value);
void und_gl_float(GLuint program, const char *name, double value);
void und_gl_vec2(GLuint program, const char *name, double x, double y);
void und_gl_vec3(GLuint program, const char *name, const float value[3]);
void und_gl_vec4(GLuint program, const char *name, const float value[4]);
void und_gl_mat4(GLuint program, const char *name, const float value[16]);
/* Binds a texture to a unit and tells the program. */
void und_gl_texture(GLuint program, const char *name, int unit, GLenum target, GLuint texture);

/* A texture with nothing in it, clamped at the edges; linear: between texels. */
GLuint und_gl_texture_2d(GLenum format, int width, int height, bool linear);
GLuint und_gl_texture_3d(GLenum format, const int size[3], bool linear);

/* Something to draw into that is not the window. */
typedef struct und_target {
    GLuint buffer, color, depth; /* depth: a texture too, or 0 */
    int width, height;
} und_target;
und_status und_gl_target(und_target *target, GLenum format, int width, int height, bool with_depth,
                         und_error *err);
void und_gl_target_clear(und_target *target); /* frees */

/* A square over all of the target: for passes over pixels.  The vertex shader gets `place`, -1 to 1, from
 * gl_VertexID: the piece und_glsl_square makes `out vec2 place`. */
void und_gl_draw_square(void);

/* Reads the colours back, 8 bits each, rows from above, [height][width][3]. */
void und_gl_read(int x, int y, int width, int height, unsigned char *rgb);

#endif
