/* Built without the libraries of undine view. */
#include "app.h"

#include "base/status.h"
#include "bench/bench.h"

und_status command_view(const args *a, und_error *err)
{
    (void)a;
    return und_error_set(err, UND_FAILED,
                         "view: this build has no viewer: it was made without GLFW, libepoxy, Dear ImGui or "
                         "fontconfig.  undine render CACHE --preview draws pictures");
}

und_status bench_view_sea(const bench_context *context, und_error *err)
{
    (void)context, (void)err;
    return UND_OK; /* nothing to time */
}
