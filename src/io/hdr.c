/* Radiance's pictures (Ward 1991, "Real pixels"): red, green and blue with one exponent, in runs. */
#include "base/file.h"
#include "base/status.h"
#include "io/image_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct source {
    const unsigned char *at, *end;
} source;

static int next_byte(source *s)
{
    return s->at < s->end ? *s->at++ : -1;
}

/* A line without its end; false: none, or longer than any that such files have. */
static bool next_line(source *s, char *line, size_t size)
{
    size_t length = 0;
    for (int c; (c = next_byte(s)) >= 0 && c != '\n';) {
        if (length + 1 >= size)
            return false;
        line[length++] = (char)c;
    }
    line[length] = '\0';
    return s->at < s->end;
}

static const char *read_header(source *s, int *width, int *height)
{
    char line[1024];
    bool known = next_line(s, line, sizeof line) && strncmp(line, "#?", 2) == 0;
    while (known && line[0] != '\0') {
        known = next_line(s, line, sizeof line);
        if (strncmp(line, "FORMAT=", 7) == 0 && strcmp(line + 7, "32-bit_rle_rgbe") != 0)
            return "expected 32-bit_rle_rgbe of its format";
    }
    if (!known || !next_line(s, line, sizeof line))
        return "the file is cut short";
    if (sscanf(line, "-Y %d +X %d", height, width) != 2 || *width < 1 || *height < 1)
        return "expected rows from the top, \"-Y height +X width\"";
    return NULL;
}

/* One of four bytes of all pixels of a row after the other, each in runs. */
static bool read_planes(source *s, unsigned char (*row)[4], int width)
{
    for (int k = 0; k < 4; k++)
        for (int x = 0; x < width;) {
            int count = next_byte(s), run = count > 128;
            count = run ? count - 128 : count;
            if (count < 1 || count > width - x)
                return false;
            int value = run ? next_byte(s) : 0;
            for (; count > 0; count--) {
                value = run ? value : next_byte(s);
                if (value < 0)
                    return false;
                row[x++][k] = (unsigned char)value;
            }
        }
    return true;
}

/* Pixels as they are; 1, 1, 1, n repeats the one before, and such in a row are digits of one count. */
static bool read_pixels(source *s, unsigned char (*row)[4], int width)
{
    int shift = 0;
    for (int x = 0; x < width;) {
        int p[4];
        for (int k = 0; k < 4; k++)
            if ((p[k] = next_byte(s)) < 0)
                return false;
        if (p[0] != 1 || p[1] != 1 || p[2] != 1) {
            for (int k = 0; k < 4; k++)
                row[x][k] = (unsigned char)p[k];
            x++;
            shift = 0;
            continue;
        }
        if (x == 0 || shift > 16 || (p[3] << shift) > width - x)
            return false;
        for (int count = p[3] << shift; count > 0; count--, x++)
            memcpy(row[x], row[x - 1], 4);
        shift += 8;
    }
    return true;
}

static bool read_row(source *s, unsigned char (*row)[4], int width)
{
    const unsigned char *p = s->at;
    bool planes = s->end - p >= 4 && p[0] == 2 && p[1] == 2 && p[2] < 128 && (p[2] << 8 | p[3]) == width;
    if (!planes || width < 8)
        return read_pixels(s, row, width);
    s->at += 4;
    return read_planes(s, row, width);
}

static const char *read_rows(source *s, unsigned char (*row)[4], und_image *image)
{
    for (int y = 0; y < image->height; y++) {
        if (!read_row(s, row, image->width))
            return "the file is cut short or damaged";
        for (int x = 0; x < image->width; x++)
            for (int k = 0; k < 3; k++)
                image->rgb[3 * ((size_t)y * (size_t)image->width + (size_t)x) + (size_t)k] =
                    row[x][3] ? ldexpf((float)row[x][k], row[x][3] - 136) : 0;
    }
    return NULL;
}

und_status und_hdr_decode(const char *data, size_t bytes, und_image *image, const char **wrong)
{
    source s = {(const unsigned char *)data, (const unsigned char *)data + bytes};
    int width = 0, height = 0;
    *wrong = read_header(&s, &width, &height);
    /* a run of 127 pixels takes two bytes of each of the four */
    if (!*wrong && (width > UND_SIDE_MOST || height > UND_SIDE_MOST))
        *wrong = "the picture is larger than 16384 on a side";
    if (!*wrong && (double)width * height > 16.0 * (double)bytes)
        *wrong = "the file is cut short";
    if (*wrong)
        return UND_FAILED;
    unsigned char(*row)[4] = malloc((size_t)width * sizeof *row);
    if (!row || und_image_create(image, width, height, NULL) != UND_OK)
        *wrong = "out of memory";
    else
        *wrong = read_rows(&s, row, image);
    free(row);
    return *wrong ? UND_FAILED : UND_OK;
}
