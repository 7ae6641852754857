/* The line of a key in the scene's text, for messages.  A scanner that knows comments, strings and braces is
 * enough; where a table was made elsewhere the search stops at the last key it found. */
#include "scene/read.h"

#include <ctype.h>
#include <string.h>

typedef struct scanner {
    const char *p, *end;
    int line;
    const char *word; /* the token, if it is a name */
    size_t length;
    char mark; /* the token, if it is a mark: one character, 'e' for ==, '"' for a string; 0 at the end */
} scanner;

/* Past a long bracket [=*[ ... ]=*] that starts at p; returns false where there is none. */
static bool skip_long(scanner *s)
{
    const char *p = s->p;
    size_t level = 0;
    if (p == s->end || *p++ != '[')
        return false;
    while (p < s->end && *p == '=') {
        p++;
        level++;
    }
    if (p == s->end || *p++ != '[')
        return false;
    for (; p < s->end; p++) {
        s->line += *p == '\n';
        if (*p != ']')
            continue;
        size_t n = 0;
        while (p + 1 + n < s->end && p[1 + n] == '=')
            n++;
        if (n == level && p + 1 + n < s->end && p[1 + n] == ']') {
            s->p = p + n + 2;
            return true;
        }
    }
    s->p = s->end;
    return true;
}

static void skip_blank(scanner *s)
{
    for (;;) {
        while (s->p < s->end && isspace((unsigned char)*s->p))
            s->line += *s->p++ == '\n';
        if (s->end - s->p < 2 || s->p[0] != '-' || s->p[1] != '-')
            return;
        s->p += 2;
        if (!skip_long(s))
            while (s->p < s->end && *s->p != '\n')
                s->p++;
    }
}

static void skip_string(scanner *s)
{
    char quote = *s->p++;
    while (s->p < s->end && *s->p != quote && *s->p != '\n')
        s->p += *s->p == '\\' && s->p + 1 < s->end ? 2 : 1;
    if (s->p < s->end)
        s->p++;
}

static bool next_token(scanner *s)
{
    skip_blank(s);
    s->word = NULL;
    s->mark = 0;
    if (s->p >= s->end)
        return false;
    if (isalpha((unsigned char)*s->p) || *s->p == '_') {
        s->word = s->p;
        while (s->p < s->end && (isalnum((unsigned char)*s->p) || *s->p == '_'))
            s->p++;
        s->length = (size_t)(s->p - s->word);
    } else if (*s->p == '"' || *s->p == '\'') {
        s->mark = '"';
        skip_string(s);
    } else if (*s->p == '[' && skip_long(s)) {
        s->mark = '"';
    } else {
        s->mark = *s->p++;
        if (s->mark == '=' && s->p < s->end && *s->p == '=') {
            s->mark = 'e';
            s->p++;
        }
    }
    return true;
}

static int nesting(char mark)
{
    return mark == '{' || mark == '(' || mark == '[' ? 1 : mark == '}' || mark == ')' || mark == ']' ? -1 : 0;
}

/* From just inside a table: to the value of `key`, or of element `index`.  False at the table's end. */
static bool find_in_table(scanner *s, const char *key, int index)
{
    int depth = 0, element = 1;
    if (!key && index == 1)
        return true;
    while (next_token(s)) {
        depth += nesting(s->mark);
        if (depth < 0)
            return false;
        if (depth > 0)
            continue;
        if (!key && (s->mark == ',' || s->mark == ';') && ++element == index)
            return true;
        if (key && s->word && strlen(key) == s->length && memcmp(key, s->word, s->length) == 0) {
            scanner ahead = *s;
            if (next_token(&ahead) && ahead.mark == '=')
                return true;
        }
    }
    return false;
}

/* Past the opening brace of the table that comes next, if one does. */
static bool enter_table(scanner *s)
{
    while (next_token(s)) {
        if (s->mark == '{')
            return true;
        if (s->mark == ',' || s->mark == '}' || s->mark == ')')
            return false;
    }
    return false;
}

int und_locate(const char *text, size_t size, int line, const reader *r)
{
    scanner s = {.p = text, .end = text + size, .line = 1};
    if (line <= 0)
        return -line;
    while (s.line < line && s.p < s.end)
        s.line += *s.p++ == '\n';
    const char *name = strrchr(r->path[0].key, '.'); /* liquid.waves: its last word is what stands before { */
    name = name ? name + 1 : r->path[0].key;
    do {
        if (!next_token(&s))
            return line;
    } while (!s.word || s.length != strlen(name) || memcmp(s.word, name, s.length) != 0);
    int best = line;
    for (int i = 1; i < r->depth; i++) {
        if (!enter_table(&s) || !find_in_table(&s, r->path[i].key, r->path[i].index))
            break;
        scanner ahead = s;
        next_token(&ahead);
        best = r->path[i].key ? s.line : ahead.line;
    }
    return best;
}
