/* Copies of a scene's files in a cache: kept once, known by their hashes, and the only ones that its scene
 * reads. */
#include "tests/folder.h"
#include "tests/small_cache.h"
#include "tests/test.h"

#include "scene/cached_scene.h"
#include "scene/scene.h"

#include <dirent.h>
#include <sys/stat.h>

static int setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    return 0;
}

static const char *in_folder(const char *name)
{
    static char path[8][256];
    static int next;
    next = (next + 1) % 8;
    snprintf(path[next], sizeof path[next], "%s/%s", folder.path, name);
    return path[next];
}

static const char *scene_with(const char *file)
{
    static char text[400];
    snprintf(text, sizeof text,
             "liquid.cells { size = {1, 1, 1}, cells = 8, solids = { mesh { file = \"%s\" } } }", file);
    return text;
}

static const char CUBE[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
                           "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

static und_cache *make(const char *path, const char *text, const und_named_file *files, int count)
{
    und_cache_def def = small_definition(path);
    und_error err = {0};
    def.model = "cells";
    def.scene_path = in_folder("scene.lua");
    def.scene_text = text;
    def.files = files;
    def.file_count = count;
    und_cache *cache = und_cache_create(&def, true, &err);
    if (!cache)
        fail_msg("%s", err.text);
    return cache;
}

static und_cache *reopen(und_cache *cache, const char *path)
{
    assert_int_equal(und_cache_close(cache, NULL, 0, NULL), UND_OK);
    cache = und_cache_open(path, NULL);
    assert_non_null(cache);
    return cache;
}

static int count_files(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += *entry->d_name != '.';
    closedir(dir);
    return count;
}

static void the_scene_is_read_from_the_copies(void **state)
{
    (void)state;
    const char *path = in_folder("copies"), *mesh = in_folder("cube.obj"), *same = in_folder("twin.obj");
    put_file(mesh, CUBE, sizeof CUBE - 1);
    put_file(same, CUBE, sizeof CUBE - 1);
    und_cache *cache =
        make(path, scene_with("a/cube.obj"), (und_named_file[]){{"a/cube.obj", mesh}, {"b.obj", same}}, 2);
    unlink(mesh);
    unlink(same);
    cache = reopen(cache, path);
    und_cache_info info = und_cache_describe(cache);
    und_error err = {0};
    assert_int_equal(info.file_count, 2);
    assert_int_equal(count_files(in_folder("copies/files")), 1); /* the same bytes once */
    und_scene *scene = und_scene_of_cache(&info, NULL, 0, &err);
    if (!scene)
        fail_msg("%s", err.text);
    assert_int_equal(und_scene_get(scene)->file_count, 1);
    assert_string_equal(und_scene_get(scene)->files[0].name, "a/cube.obj");
    char copy[UND_PATH_MAX];
    snprintf(copy, sizeof copy, "%s", und_scene_get(scene)->files[0].path);
    und_scene_destroy(scene);
    assert_int_equal(und_cache_verify(path, NULL, NULL, NULL, &err), UND_OK);

    put_file(copy, "v 0 0 0\n", 8);
    assert_null(und_scene_of_cache(&info, NULL, 0, &err));
    assert_non_null(strstr(err.text, "has changed"));
    assert_int_equal(und_cache_verify(path, NULL, NULL, NULL, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "\"a/cube.obj\", has changed"));
    unlink(copy);
    put_file(mesh, CUBE, sizeof CUBE - 1);
    assert_int_equal(symlink(mesh, copy), 0); /* the right bytes, but elsewhere */
    assert_null(und_scene_of_cache(&info, NULL, 0, &err));
    assert_non_null(strstr(err.text, "is missing"));
    und_cache_close(cache, NULL, 0, NULL);
}

static void a_pass_has_the_files_of_its_flow_and_of_its_bodies(void **state)
{
    (void)state;
    const char *flow = in_folder("flow"), *path = in_folder("pass"), *mesh = in_folder("cube.obj");
    const char *raft = "bodies { { shape = mesh { file = \"raft.obj\" }, density = 300 } }";
    und_named_file of_scene = {"cube.obj", mesh}, of_bodies = {"raft.obj", mesh};
    put_file(mesh, CUBE, sizeof CUBE - 1);
    und_cache_close(make(flow, scene_with("cube.obj"), &of_scene, 1), NULL, 0, NULL);
    und_cache_def def = small_definition(path);
    und_error err = {0};
    def.model = "cells";
    def.scene_text = scene_with("cube.obj");
    def.flow = flow;
    def.bodies_path = "raft.lua";
    def.bodies_text = raft;
    def.bodies_files = &of_bodies;
    def.bodies_file_count = 1;
    und_cache *cache = und_cache_create(&def, false, &err);
    assert_non_null(cache);
    unlink(mesh);
    cache = reopen(cache, path);
    und_cache_info info = und_cache_describe(cache);
    und_scene *scene = und_scene_of_cache(&info, NULL, 0, &err);
    und_scene *bodies = scene ? und_scene_bodies_of_cache(&info, info.bodies_text, &err) : NULL;
    if (!bodies)
        fail_msg("%s", err.text);
    assert_int_equal(und_scene_get(bodies)->file_count, 1);
    und_scene_destroy(bodies);
    und_scene_destroy(scene);
    und_cache_close(cache, NULL, 0, NULL);
}

/* Whatever the manifest says of where the scene was, and whatever its text asks for. */
static void a_manifest_opens_nothing_outside(void **state)
{
    (void)state;
    const char secret[] = "the line of a secret\n", *path = in_folder("crafted");
    put_file(in_folder("secret.obj"), secret, sizeof secret - 1);
    const char *names[] = {"secret.obj", "../secret.obj", "/etc/hostname", "files/../../secret.obj", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        und_cache *cache = reopen(make(path, scene_with(names[i]), NULL, 0), path);
        und_cache_info info = und_cache_describe(cache);
        und_error err = {0};
        assert_null(und_scene_of_cache(&info, NULL, 0, &err));
        assert_int_equal(err.status, UND_INVALID);
        assert_non_null(strstr(err.text, "is not among the files that"));
        assert_null(strstr(err.text, "line of a secret"));
        info.keeps_files = false; /* as a cache from before: no different */
        assert_null(und_scene_of_cache(&info, NULL, 0, &err));
        assert_non_null(strstr(err.text, "--resume"));
        und_cache_close(cache, NULL, 0, NULL);
    }
}

static void a_replaced_cache_keeps_what_is_not_its_own(void **state)
{
    (void)state;
    const char *path = in_folder("again"), *mesh = in_folder("cube.obj");
    put_file(mesh, CUBE, sizeof CUBE - 1);
    und_cache_close(make(path, scene_with("cube.obj"), (und_named_file[]){{"cube.obj", mesh}}, 1), NULL, 0,
                    NULL);
    put_file(in_folder("again/files/notes.txt"), "mine", 4);
    assert_int_equal(count_files(in_folder("again/files")), 2);
    und_cache_close(make(path, "scene {}", NULL, 0), NULL, 0, NULL);
    assert_int_equal(count_files(in_folder("again/files")), 1);
    assert_int_equal(access(in_folder("again/files/notes.txt"), F_OK), 0);
}

static void a_missing_file_is_no_cache(void **state)
{
    (void)state;
    und_cache_def def = small_definition(in_folder("none"));
    und_named_file gone = {"gone.obj", in_folder("gone.obj")};
    und_error err = {0};
    def.files = &gone;
    def.file_count = 1;
    assert_null(und_cache_create(&def, false, &err));
    assert_non_null(strstr(err.text, "gone.obj"));
    assert_int_not_equal(access(def.folder, F_OK), 0); /* nothing is left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_scene_is_read_from_the_copies),
                                       cmocka_unit_test(a_pass_has_the_files_of_its_flow_and_of_its_bodies),
                                       cmocka_unit_test(a_manifest_opens_nothing_outside),
                                       cmocka_unit_test(a_replaced_cache_keeps_what_is_not_its_own),
                                       cmocka_unit_test(a_missing_file_is_no_cache)};
    return cmocka_run_group_tests_name("cache, files of the scene", tests, setup, teardown);
}
