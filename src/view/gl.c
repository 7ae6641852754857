/* Programs, textures and targets of OpenGL. */
#include "view/gl.h"

#include "base/status.h"

#include <stdio.h>
#include <string.h>

bool und_gl_is_software(void)
{
    static const char *const names[] = {"llvmpipe", "softpipe", "swrast", "Software", "SwiftShader"};
    const char *driver = (const char *)glGetString(GL_RENDERER);
    for (size_t k = 0; driver && k < sizeof names / sizeof *names; k++)
        if (strstr(driver, names[k]))
            return true;
    return false;
}

static GLuint shader(GLenum kind, const und_program_def *def, const char *const pieces[UND_GL_PIECES],
                     und_error *err)
{
    const char *text[UND_GL_PIECES + 1] = {epoxy_is_desktop_gl() ? "#version 330 core\n"
                                                                 : "#version 300 es\n"
                                                                   "precision highp float;\n"
                                                                   "precision highp int;\n"
                                                                   "precision highp sampler2D;\n"
                                                                   "precision highp sampler3D;\n"};
    int count = 1;
    for (int i = 0; i < UND_GL_PIECES && pieces[i]; i++)
        text[count++] = pieces[i];
    GLuint name = glCreateShader(kind);
    glShaderSource(name, count, text, NULL);
    glCompileShader(name);
    GLint good = 0;
    glGetShaderiv(name, GL_COMPILE_STATUS, &good);
    if (good)
        return name;
    char why[1024] = "";
    glGetShaderInfoLog(name, sizeof why, NULL, why);
    und_error_set(err, UND_FAILED, "OpenGL does not take the %s shader of %s: %s",
                  kind == GL_VERTEX_SHADER ? "vertex" : "fragment", def->name, why);
    glDeleteShader(name);
    return 0;
}

GLuint und_gl_program(const und_program_def *def, und_error *err)
{
    GLuint vertex = shader(GL_VERTEX_SHADER, def, def->vertex, err);
    GLuint fragment = vertex ? shader(GL_FRAGMENT_SHADER, def, def->fragment, err) : 0;
    GLuint program = fragment ? glCreateProgram() : 0;
    if (program) {
        glAttachShader(program, vertex);
        glAttachShader(program, fragment);
        glLinkProgram(program);
        GLint good = 0;
        glGetProgramiv(program, GL_LINK_STATUS, &good);
        if (!good) {
            char why[1024] = "";
            glGetProgramInfoLog(program, sizeof why, NULL, why);
            und_error_set(err, UND_FAILED, "OpenGL does not link %s: %s", def->name, why);
            glDeleteProgram(program);
            program = 0;
        }
    }
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    return program;
}

void und_gl_int(GLuint program, const char *name, int value)
{
    glUniform1i(glGetUniformLocation(program, name), value);
}
void und_gl_float(GLuint program, const char *name, double value)
{
    glUniform1f(glGetUniformLocation(program, name), (float)value);
}
void und_gl_vec2(GLuint program, const char *name, double x, double y)
{
    glUniform2f(glGetUniformLocation(program, name), (float)x, (float)y);
}
void und_gl_vec3(GLuint program, const char *name, const float value[3])
{
    glUniform3fv(glGetUniformLocation(program, name), 1, value);
}
void und_gl_vec4(GLuint program, const char *name, const float value[4])
{
    glUniform4fv(glGetUniformLocation(program, name), 1, value);
}
void und_gl_mat4(GLuint program, const char *name, const float value[16])
{
    glUniformMatrix4fv(glGetUniformLocation(program, name), 1, GL_FALSE, value);
}

void und_gl_texture(GLuint program, const char *name, int unit, GLenum target, GLuint texture)
{
    glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    glBindTexture(target, texture);
    und_gl_int(program, name, unit);
}

static GLuint texture_of(GLenum target, bool linear)
{
    GLuint texture = 0;
    GLint between = linear ? GL_LINEAR : GL_NEAREST;
    glGenTextures(1, &texture);
    glBindTexture(target, texture);
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, between);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, between);
    glTexParameteri(target, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(target, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(target, GL_TEXTURE_WRAP_R, GL_CLAMP_TO_EDGE);
    return texture;
}

/* What the data would be like, for a format whose texels are to be set later. */
static void format_parts(GLenum format, GLenum *parts, GLenum *type)
{
    static const struct {
        GLenum format, parts, type;
    } known[] = {
        {GL_R8, GL_RED, GL_UNSIGNED_BYTE},
        {GL_RG8, GL_RG, GL_UNSIGNED_BYTE},
        {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE},
        {GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE},
        {GL_R16F, GL_RED, GL_FLOAT},
        {GL_RG16F, GL_RG, GL_FLOAT},
        {GL_RGBA16F, GL_RGBA, GL_FLOAT},
        {GL_R32F, GL_RED, GL_FLOAT},
        {GL_RG32F, GL_RG, GL_FLOAT},
        {GL_RGBA32F, GL_RGBA, GL_FLOAT},
        {GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT},
    };
    *parts = GL_RGBA;
    *type = GL_UNSIGNED_BYTE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].format == format) {
            *parts = known[i].parts;
            *type = known[i].type;
        }
}

GLuint und_gl_texture_2d(GLenum format, int width, int height, bool linear)
{
    GLuint texture = texture_of(GL_TEXTURE_2D, linear);
    GLenum parts, type;
    format_parts(format, &parts, &type);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, width, height, 0, parts, type, NULL);
    return texture;
}

GLuint und_gl_texture_3d(GLenum format, const int size[3], bool linear)
{
    GLuint texture = texture_of(GL_TEXTURE_3D, linear);
    GLenum parts, type;
    format_parts(format, &parts, &type);
    glTexImage3D(GL_TEXTURE_3D, 0, (GLint)format, size[0], size[1], size[2], 0, parts, type, NULL);
    return texture;
}

und_status und_gl_target(und_target *target, GLenum format, int width, int height, bool with_depth,
                         und_error *err)
{
    *target = (und_target){.width = width, .height = height};
    target->color = und_gl_texture_2d(format, width, height, true);
    glGenFramebuffers(1, &target->buffer);
    glBindFramebuffer(GL_FRAMEBUFFER, target->buffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target->color, 0);
    if (with_depth) {
        target->depth = und_gl_texture_2d(GL_DEPTH_COMPONENT24, width, height, false);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, target->depth, 0);
    }
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE)
        return UND_OK;
    und_gl_target_clear(target);
    return und_error_set(err, UND_FAILED, "OpenGL does not draw into a buffer of %d x %d pixels", width,
                         height);
}

void und_gl_target_clear(und_target *target)
{
    glDeleteFramebuffers(1, &target->buffer);
    glDeleteTextures(1, &target->color);
    glDeleteTextures(1, &target->depth);
    *target = (und_target){0};
}

void und_gl_draw_square(void)
{
    /* The core profile wants an array of vertices bound, even an empty one. */
    GLuint none = 0;
    glGenVertexArrays(1, &none);
    glBindVertexArray(none);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(0);
    glDeleteVertexArrays(1, &none);
}

void und_gl_read(int x, int y, int width, int height, unsigned char *rgb)
{
    enum { PIECE = 1024 };
    unsigned char piece[PIECE][4];              /* four numbers are what every OpenGL gives */
    for (int row = height - 1; row >= 0; row--) /* whose rows go up */
        for (int from = 0; from < width; from += PIECE) {
            int count = width - from < PIECE ? width - from : PIECE;
            glReadPixels(x + from, y + row, count, 1, GL_RGBA, GL_UNSIGNED_BYTE, piece);
            for (int i = 0; i < count; i++, rgb += 3)
                memcpy(rgb, piece[i], 3);
        }
}
