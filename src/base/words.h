/* Words that people type. */
#ifndef UND_BASE_WORDS_H
#define UND_BASE_WORDS_H

/* The word of `words` (count of them) nearest to `word`, or NULL where none is near. */
const char *und_suggest(const char *word, const char *const *words, int count);

#endif
