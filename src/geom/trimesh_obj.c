/* Wavefront OBJ: "v" and "f"; whatever else a line may say is of no use to a shape. */
#include "geom/trimesh_file.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* Past blanks, and past the end of a line that a backslash continues. */
static void skip_blanks(und_mesh_text *text)
{
    for (;;) {
        const char *p = text->at;
        if (*p == ' ' || *p == '\t' || *p == '\r') {
            text->at++;
        } else if (p[0] == '\\' && (p[1] == '\n' || (p[1] == '\r' && p[2] == '\n'))) {
            text->at += p[1] == '\n' ? 2 : 3;
            text->line++;
        } else {
            return;
        }
    }
}

static bool at_line_end(und_mesh_text *text)
{
    skip_blanks(text);
    return text->at >= text->end || *text->at == '\n' || *text->at == '#';
}

static bool ends_word(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0' || c == '#' || c == '\\';
}

static void skip_line(und_mesh_text *text)
{
    while (text->at < text->end && *text->at != '\n') {
        const char *before = text->at;
        if (*before == '\\')
            skip_blanks(text);
        text->at += text->at == before;
    }
    text->line += text->at < text->end;
    text->at += text->at < text->end;
}

static und_status read_vertex(und_mesh_text *text)
{
    double n[8];
    int count = 0;
    for (; count < 8 && !at_line_end(text); count++) {
        char *stop;
        n[count] = strtod(text->at, &stop);
        if (stop == text->at || !ends_word(*stop) || !isfinite(n[count]))
            return und_mesh_expected(text, "a number");
        text->at = stop;
    }
    if (count < 3 || count == 5 || count == 8)
        return und_mesh_expected(text, "v x y z or v x y z red green blue");
    for (int i = 3; i < 6 && count >= 6; i++)
        if (n[i] < 0 || n[i] > 1)
            return und_error_set(text->err, UND_INVALID, "%s:%d: expected a colour from 0 to 1, found %g",
                                 text->path, text->line, n[i]);
    return und_mesh_add_vertex(text, und_vec(n[0], n[1], n[2]), count >= 6 ? n + 3 : NULL);
}

/* One corner "vertex", "vertex/texture", "vertex//normal" or all three; counted from 1, or backwards from the
 * last vertex so far by negative numbers. */
static und_status read_corner(und_mesh_text *text, int *out)
{
    char *stop;
    long vertex = strtol(text->at, &stop, 10);
    bool good = stop != text->at && *text->at != ' ';
    for (int slash = 0; slash < 2 && good && *stop == '/'; slash++) {
        const char *from = stop + 1;
        if (*from == '-' || (*from >= '0' && *from <= '9'))
            strtol(from, &stop, 10);
        else
            stop++;
    }
    if (!good || !ends_word(*stop))
        return und_mesh_expected(text, "the number of a vertex");
    long index = vertex > 0 ? vertex - 1 : vertex + text->vertex_count;
    if (vertex == 0 || index < 0 || index >= text->vertex_count)
        return und_error_set(text->err, UND_INVALID,
                             "%s:%d: there is no vertex %ld; %d came before this line", text->path,
                             text->line, vertex, text->vertex_count);
    text->at = stop;
    *out = (int)index;
    return UND_OK;
}

static und_status read_face(und_mesh_text *text)
{
    int first = 0, before = 0, corner = 0, count = 0;
    und_status status = UND_OK;
    for (; !at_line_end(text); count++) {
        before = corner;
        status = read_corner(text, &corner);
        if (count == 0)
            first = corner;
        if (status == UND_OK && count >= 2)
            status = und_mesh_add_triangle(text, first, before, corner);
        if (status != UND_OK)
            return status;
    }
    return count >= 3 ? UND_OK : und_mesh_expected(text, "three or more corners");
}

static bool is_known(const char *word, size_t length)
{
    static const char *const others[] = {
        "vt",     "vn",     "vp",     "g",      "o",        "s",        "l",          "p",         "mg",
        "usemtl", "mtllib", "usemap", "maplib", "lod",      "bevel",    "end",        "curv",      "curv2",
        "surf",   "cstype", "parm",   "trim",   "hole",     "scrv",     "sp",         "con",       "deg",
        "bmat",   "step",   "ctech",  "stech",  "c_interp", "d_interp", "shadow_obj", "trace_obj", NULL};
    for (int i = 0; others[i]; i++)
        if (strlen(others[i]) == length && memcmp(others[i], word, length) == 0)
            return true;
    return false;
}

und_status und_mesh_read_obj(und_mesh_text *text)
{
    while (text->at < text->end) {
        und_status status = UND_OK;
        if (!at_line_end(text)) {
            const char *word = text->at;
            size_t length = 0;
            while (!ends_word(word[length]))
                length++;
            bool one = length == 1;
            if (!(one && (*word == 'v' || *word == 'f')) && !is_known(word, length))
                return und_mesh_expected(text, "a line of an OBJ file (v, f, vn, g, ...)");
            text->at += length;
            if (one && *word == 'v')
                status = read_vertex(text);
            else if (one && *word == 'f')
                status = read_face(text);
        }
        if (status != UND_OK)
            return status;
        skip_line(text);
    }
    if (text->triangle_count == 0)
        return und_error_set(text->err, UND_INVALID, "%s: no faces: expected an OBJ or a PLY file",
                             text->path);
    return UND_OK;
}
