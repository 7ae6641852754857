#include "base/words.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_WORD = 31 };

/* Levenshtein's distance with neighbours swapped counting one, for words of up to 31 letters. */
static int edit_distance(const char *a, const char *b)
{
    enum { LONGEST = LONGEST_WORD };
    int n = (int)strnlen(a, LONGEST + 1), m = (int)strnlen(b, LONGEST + 1);
    int d[LONGEST + 1][LONGEST + 1];
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
            best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

const char *und_suggest(const char *word, const char *const *words, int count)
{
    int length = (int)strlen(word), best = length <= 3 ? 2 : 2 + length / 4;
    const char *near = NULL;
    for (int i = 0; i < count; i++) {
        /* any other word of one or two letters is near to many */
        bool same = strcasecmp(word, words[i]) == 0;
        int distance = same ? 0 : length <= 2 ? LONGEST_WORD : edit_distance(word, words[i]);
        /* ties go to the alphabet, not to the order the words came in */
        if (distance < best || (near && distance == best && strcmp(words[i], near) < 0)) {
            best = distance;
            near = words[i];
        }
    }
    return near;
}
