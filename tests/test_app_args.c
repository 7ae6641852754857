/* The option parser. */
#include "tests/test.h"

#include "app/args.c"

static und_status parse(args *a, unsigned allowed, und_error *err, int count, const char *const *words)
{
    *err = (und_error){0};
    return args_parse(a, count, words, "run", allowed, err);
}
#define PARSE(a, allowed, err, ...)                                                             \
    parse(a, allowed, err, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)), \
          (const char *[]){__VA_ARGS__})

enum { ALL = (1 << 20) - 1 };

static void reads_options(void **state)
{
    (void)state;
    args a;
    und_error err;
    assert_int_equal(PARSE(&a, ALL, &err, "-s", "-5", "scene.lua", "--end=12", "-j3", "--set", "cells=64",
                           "--set=name=a=b", "-q", "--resume", "--size", "64x36", "-o", "out"),
                     UND_OK);
    assert_int_equal(a.start, -5);
    assert_int_equal(a.end, 12);
    assert_int_equal(a.threads, 3);
    assert_int_equal(a.count, 1);
    assert_string_equal(a.words[0], "scene.lua");
    assert_int_equal(a.setting_count, 2);
    assert_string_equal(a.settings[0].name, "cells");
    assert_string_equal(a.settings[0].value, "64");
    assert_string_equal(a.settings[1].name, "name");
    assert_string_equal(a.settings[1].value, "a=b");
    assert_true(a.quiet && a.resume && !a.force);
    assert_true(a.width == 64 && a.height == 36);
    assert_string_equal(a.output, "out");
    assert_true(a.given & OPT_START && !(a.given & OPT_STILLS));
    args_free(&a);
}

static void words_after_dashes(void **state)
{
    (void)state;
    args a;
    und_error err;
    assert_int_equal(PARSE(&a, ALL, &err, "--", "-q", "-"), UND_OK);
    assert_int_equal(a.count, 2);
    assert_false(a.quiet);
    args_free(&a);
}

static void resumes_with(const char *expected, int count, const char *const *words)
{
    args a;
    und_error err;
    char *text = NULL;
    size_t bytes;
    assert_int_equal(parse(&a, ALL, &err, count, words), UND_OK);
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    a.program = "bin/undine";
    a.command = "run";
    args_print_resume(&a, "out/a b", to);
    assert_int_equal(fclose(to), 0);
    assert_string_equal(text, expected);
    free(text);
    args_free(&a);
}
#define RESUMES(expected, ...)                                                                  \
    resumes_with(expected, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)), \
                 (const char *[]){__VA_ARGS__})

/* What is typed again is what was typed. */
static void how_to_resume(void **state)
{
    (void)state;
    RESUMES(" bin/undine run a.lua -j 1 --size 64x36 --stills=3 -e40 -o hint --resume", "a.lua", "-j", "1",
            "--size", "64x36", "--stills=3", "-e40", "-o", "hint");
    RESUMES(" bin/undine run 'my scene.lua' --set 'who=it'\\''s' -o 'out/a b' --resume", "--force",
            "my scene.lua", "--set", "who=it's");
    RESUMES(" bin/undine run a.lua -o --force --resume", "a.lua", "--resume", "-o", "--force", "--resume");
    RESUMES(" bin/undine run --png -o 'out/a b' --resume -- --force '~' '$x'", "--png", "--", "--force", "~",
            "$x");
}

static void refuses(const char *word, const char *value, const char *expected)
{
    args a;
    und_error err;
    und_status status =
        value ? PARSE(&a, ALL & ~OPT_MODEL, &err, word, value) : PARSE(&a, ALL & ~OPT_MODEL, &err, word);
    assert_int_equal(status, UND_INVALID);
    if (!strstr(err.text, expected))
        fail_msg("%s: \"%s\" does not say \"%s\"", word, err.text, expected);
    args_free(&a);
}

static void wrong_options(void **state)
{
    (void)state;
    refuses("--resum", NULL, "did you mean --resume?");
    refuses("--treads", "4", "did you mean --threads?");
    refuses("--xyzzyxyzzy", NULL, "--help");
    refuses("--model", "waves", "no option --model"); /* known, but not here */
    refuses("-z", NULL, "no option -z");
    refuses("-qq", NULL, "no option -qq");
    refuses("--start", NULL, "wants FRAME");
    refuses("--start", "1.5", "whole number");
    refuses("--start", "99999999999999999999", "whole number");
    refuses("-j", "-1", "whole number");
    refuses("--set", "cells", "name=value");
    refuses("--set", "=3", "name=value");
    refuses("--size", "64", "WIDTHxHEIGHT");
    refuses("--size", "64x", "WIDTHxHEIGHT");
    refuses("--resume=yes", NULL, "no option");
    refuses("--output", "", "FOLDER");
}

static void nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"run", "render", "validate"};
    assert_string_equal(args_nearest("rendr", names, 3), "render");
    assert_string_equal(args_nearest("valid", names, 3), "validate");
    assert_null(args_nearest("float", names, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_options), cmocka_unit_test(words_after_dashes),
                                       cmocka_unit_test(wrong_options), cmocka_unit_test(how_to_resume),
                                       cmocka_unit_test(nearest)};
    return cmocka_run_group_tests_name("app_args", tests, NULL, NULL);
}
