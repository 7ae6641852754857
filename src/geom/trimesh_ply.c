/* PLY: a header that says what follows, then vertices and faces as text or little-endian bytes. */
#include "geom/trimesh_file.h"

#include "base/status.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 16, PROPERTIES_MAX = 64, WORD_MAX = 32, COLUMNS_MAX = 32 };

typedef enum ply_type { INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64, NO_TYPE } ply_type;

static const int type_bytes[] = {1, 1, 2, 2, 4, 4, 4, 8};

/* What a property is to us. */
typedef enum ply_use { USE_X, USE_Y, USE_Z, USE_RED, USE_GREEN, USE_BLUE, USE_CORNERS, USE_NONE } ply_use;

typedef struct ply_property {
    ply_type type, count_type; /* NO_TYPE: not a list */
    ply_use use;
    int column; /* of those that are asked for; -1: none */
} ply_property;

typedef struct ply_element {
    bool is_vertex, is_face;
    long count;
    int property_count;
    ply_property property[PROPERTIES_MAX];
} ply_element;

typedef struct ply {
    und_mesh_text *text;
    bool binary;
    int element_count;
    ply_element element[ELEMENTS_MAX];
} ply;

static ply_type type_named(const char *word)
{
    static const char *const names[][2] = {{"char", "int8"},     {"uchar", "uint8"},   {"short", "int16"},
                                           {"ushort", "uint16"}, {"int", "int32"},     {"uint", "uint32"},
                                           {"float", "float32"}, {"double", "float64"}};
    for (int i = 0; i < NO_TYPE; i++)
        if (strcmp(word, names[i][0]) == 0 || strcmp(word, names[i][1]) == 0)
            return (ply_type)i;
    return NO_TYPE;
}

/* The next word of the header's line; "" where the line ends. */
static void next_word(und_mesh_text *text, char word[WORD_MAX])
{
    size_t n = 0;
    while (*text->at == ' ' || *text->at == '\t')
        text->at++;
    for (; text->at < text->end && isgraph((unsigned char)*text->at); text->at++)
        if (n < WORD_MAX - 1)
            word[n++] = *text->at;
    word[n] = '\0';
}

/* The header's end of line is the last byte before binary data: nothing more may be skipped there. */
static und_status end_line(und_mesh_text *text)
{
    while (*text->at == ' ' || *text->at == '\t' || *text->at == '\r')
        text->at++;
    if (text->at >= text->end || *text->at != '\n')
        return und_mesh_expected(text, "the end of the line");
    text->at++;
    text->line++;
    return UND_OK;
}

static ply_use use_named(const ply_element *element, const char *word, bool list)
{
    static const char *const names[] = {"x", "y", "z", "red", "green", "blue"};
    for (int i = 0; i < 6 && element->is_vertex && !list; i++)
        if (strcmp(word, names[i]) == 0)
            return (ply_use)i;
    bool corners = strcmp(word, "vertex_indices") == 0 || strcmp(word, "vertex_index") == 0;
    return element->is_face && list && corners ? USE_CORNERS : USE_NONE;
}

/* Which of the columns asked for the property is. */
static int column_named(und_mesh_text *text, const ply_element *element, const char *word, bool list)
{
    for (int i = 0; text->column && element->is_vertex && !list && text->column[i]; i++)
        if (strcmp(word, text->column[i]) == 0) {
            text->has |= 1U << i;
            return i;
        }
    return -1;
}

static und_status read_property(ply *p)
{
    und_mesh_text *text = p->text;
    char word[WORD_MAX];
    ply_property property = {.count_type = NO_TYPE};
    if (p->element_count == 0)
        return und_mesh_expected(text, "an element before its properties");
    ply_element *element = &p->element[p->element_count - 1];
    if (element->property_count == PROPERTIES_MAX)
        return und_error_set(text->err, UND_INVALID, "%s:%d: more than %d properties", text->path, text->line,
                             PROPERTIES_MAX);
    next_word(text, word);
    bool list = strcmp(word, "list") == 0;
    if (list) {
        next_word(text, word);
        property.count_type = type_named(word);
        next_word(text, word);
    }
    property.type = type_named(word);
    if (property.type == NO_TYPE || (list && property.count_type >= FLOAT32))
        return und_mesh_expected(text, "property TYPE NAME or property list COUNT_TYPE TYPE NAME");
    next_word(text, word);
    if (word[0] == '\0')
        return und_mesh_expected(text, "the name of a property");
    property.use = use_named(element, word, list);
    property.column = column_named(text, element, word, list);
    element->property[element->property_count++] = property;
    return UND_OK;
}

static und_status read_element(ply *p)
{
    und_mesh_text *text = p->text;
    char word[WORD_MAX], *stop;
    if (p->element_count == ELEMENTS_MAX)
        return und_error_set(text->err, UND_INVALID, "%s:%d: more than %d elements", text->path, text->line,
                             ELEMENTS_MAX);
    ply_element *element = &p->element[p->element_count++];
    next_word(text, word);
    *element = (ply_element){.is_vertex = strcmp(word, "vertex") == 0, .is_face = strcmp(word, "face") == 0};
    next_word(text, word);
    element->count = strtol(word, &stop, 10);
    if (stop == word || *stop || element->count < 0)
        return und_mesh_expected(text, "element NAME COUNT");
    return UND_OK;
}

static und_status read_format(ply *p)
{
    char word[WORD_MAX], version[WORD_MAX];
    next_word(p->text, word);
    next_word(p->text, version);
    p->binary = strcmp(word, "binary_little_endian") == 0;
    if ((!p->binary && strcmp(word, "ascii") != 0) || strcmp(version, "1.0") != 0)
        return und_error_set(p->text->err, UND_INVALID,
                             "%s:%d: expected format ascii 1.0 or binary_little_endian 1.0, found %s %s",
                             p->text->path, p->text->line, word, version);
    return UND_OK;
}

static und_status read_header(ply *p)
{
    und_mesh_text *text = p->text;
    char word[WORD_MAX];
    bool has_format = false;
    next_word(text, word); /* "ply" */
    for (;;) {
        und_status status = end_line(text);
        if (status != UND_OK)
            return status;
        const char *from = text->at;
        next_word(text, word);
        if (strcmp(word, "format") == 0) {
            status = read_format(p);
            has_format = true;
        } else if (strcmp(word, "element") == 0) {
            status = read_element(p);
        } else if (strcmp(word, "property") == 0) {
            status = read_property(p);
        } else if (strcmp(word, "comment") == 0 || strcmp(word, "obj_info") == 0) {
            while (text->at < text->end && *text->at != '\n')
                text->at++;
        } else if (strcmp(word, "end_header") == 0) {
            return has_format ? end_line(text) : und_mesh_expected(text, "a format in the header");
        } else {
            text->at = from;
            status = und_mesh_expected(text, "format, element, property, comment or end_header");
        }
        if (status != UND_OK)
            return status;
    }
}

static double little_endian(const char *data, ply_type type)
{
    uint64_t bits = 0;
    for (int i = 0; i < type_bytes[type]; i++)
        bits |= (uint64_t)(unsigned char)data[i] << (8 * i);
    uint32_t low = (uint32_t)bits;
    float single;
    double number;
    switch (type) {
    case INT8:
        return (int8_t)low;
    case INT16:
        return (int16_t)low;
    case INT32:
        return (int32_t)low;
    case FLOAT32:
        memcpy(&single, &low, sizeof single);
        return single;
    case FLOAT64:
        memcpy(&number, &bits, sizeof number);
        return number;
    default:
        return low;
    }
}

static und_status read_number(ply *p, ply_type type, double *out)
{
    und_mesh_text *text = p->text;
    if (p->binary) {
        if (text->end - text->at < type_bytes[type])
            return und_error_set(text->err, UND_INVALID, "%s: byte %zu: the file ends too early", text->path,
                                 (size_t)(text->end - text->start));
        *out = little_endian(text->at, type);
        text->at += type_bytes[type];
        return UND_OK;
    }
    for (; text->at < text->end && isspace((unsigned char)*text->at); text->at++)
        text->line += *text->at == '\n';
    char *stop;
    *out = strtod(text->at, &stop);
    if (stop == text->at || (*stop && !isspace((unsigned char)*stop)))
        return und_mesh_expected(text, "a number");
    text->at = stop;
    return UND_OK;
}

/* Where the reading stands, for a message about a number. */
static und_status wrong_number(ply *p, const char *expected, double found)
{
    und_mesh_text *text = p->text;
    if (p->binary)
        return und_error_set(text->err, UND_INVALID, "%s: byte %zu: expected %s, found %g", text->path,
                             (size_t)(text->at - text->start), expected, found);
    return und_error_set(text->err, UND_INVALID, "%s:%d: expected %s, found %g", text->path, text->line,
                         expected, found);
}

static und_status read_list(ply *p, const ply_property *property)
{
    double length, number;
    int first = 0, before = 0, corner = 0;
    und_status status = read_number(p, property->count_type, &length);
    if (status != UND_OK)
        return status;
    bool wanted = property->use == USE_CORNERS;
    if (!(length >= (wanted ? 3 : 0) && length <= 1e9))
        return wrong_number(p, wanted ? "a face of three or more corners" : "a list's length", length);
    for (long i = 0; i < (long)length; i++) {
        status = read_number(p, property->type, &number);
        if (status == UND_OK && wanted && !(number >= 0 && number < 3 * UND_TRIMESH_MAX))
            status = wrong_number(p, "the number of a vertex", number);
        if (status != UND_OK)
            return status;
        if (!wanted)
            continue;
        before = corner;
        corner = (int)number;
        first = i == 0 ? corner : first;
        if (i >= 2)
            status = und_mesh_add_triangle(p->text, first, before, corner);
        if (status != UND_OK)
            return status;
    }
    return UND_OK;
}

/* One vertex, face or whatever else there is. */
static und_status read_row(ply *p, const ply_element *element, bool colored)
{
    double n[USE_CORNERS] = {0}, row[COLUMNS_MAX] = {0}, other = 0;
    for (int i = 0; i < element->property_count; i++) {
        const ply_property *property = &element->property[i];
        und_status status;
        if (property->count_type != NO_TYPE)
            status = read_list(p, property);
        else
            status = read_number(p, property->type, property->use < USE_CORNERS ? &n[property->use] : &other);
        if (status != UND_OK)
            return status;
        if (property->column >= 0) {
            double number = property->use < USE_CORNERS ? n[property->use] : other;
            row[property->column] = number;
            if (!isfinite(number))
                return wrong_number(p, "a finite number", number);
        }
        if (property->use < USE_CORNERS && !isfinite(n[property->use]))
            return wrong_number(p, "a finite number", n[property->use]);
        if (property->use >= USE_RED && property->use <= USE_BLUE && property->type == UINT8)
            n[property->use] /= 255;
    }
    if (!element->is_vertex)
        return UND_OK;
    if (p->text->take)
        return p->text->take(p->text, row);
    return und_mesh_add_vertex(p->text, und_vec(n[USE_X], n[USE_Y], n[USE_Z]), colored ? n + USE_RED : NULL);
}

static und_status read_rows(ply *p, const ply_element *element)
{
    unsigned uses = 0;
    for (int i = 0; i < element->property_count; i++)
        uses |= 1U << element->property[i].use;
    const unsigned place = 1U << USE_X | 1U << USE_Y | 1U << USE_Z;
    const unsigned color = 1U << USE_RED | 1U << USE_GREEN | 1U << USE_BLUE;
    if (element->property_count == 0 && element->count > 0)
        return und_error_set(p->text->err, UND_INVALID, "%s: an element of the header has no properties",
                             p->text->path);
    if (element->is_vertex && (uses & place) != place)
        return und_error_set(p->text->err, UND_INVALID, "%s: the vertices need the properties x, y and z",
                             p->text->path);
    if (element->is_face && !(uses & 1U << USE_CORNERS))
        return und_error_set(p->text->err, UND_INVALID, "%s: the faces need a list vertex_indices",
                             p->text->path);
    for (long i = 0; i < element->count; i++) {
        und_status status = read_row(p, element, (uses & color) == color);
        if (status != UND_OK)
            return status;
    }
    return UND_OK;
}

und_status und_mesh_read_ply(und_mesh_text *text)
{
    ply *p = und_alloc(1, sizeof *p, "a PLY file's header", text->err);
    if (!p)
        return UND_FAILED;
    p->text = text;
    und_status status = read_header(p);
    for (int i = 0; i < p->element_count && status == UND_OK; i++)
        status = read_rows(p, &p->element[i]);
    if (status == UND_OK && text->triangle_count == 0 && !text->take)
        status = und_error_set(text->err, UND_INVALID, "%s: no faces", text->path);
    free(p);
    return status;
}
