#include "base/child.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct und_child {
    pid_t pid;
    int pipe; /* the end that this process has */
    bool ended;
    double seconds, patience;
};

static const rlim_t ROOM = (rlim_t)4 << 30; /* bytes, and some for each byte of the file */
static const double SECONDS = 10;           /* of the processor, and one for each MB of the file */
static const double PATIENCE = 60; /* s with one that does not work: it waits for what will never come */

enum {
    PER_BYTE = 32,
    LOOKS = 60 /* at a child that is silent, before patience ends */
};

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { CHECKED = 1 };
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { CHECKED = 1 };
#else
enum { CHECKED = 0 };
#endif
#else
enum { CHECKED = 0 };
#endif

static void limit(int what, rlim_t most)
{
    struct rlimit l;
    if (getrlimit(what, &l) == 0 && (l.rlim_max == RLIM_INFINITY || most < l.rlim_max)) {
        l.rlim_cur = most;
        setrlimit(what, &l);
    }
}

/* Address space that the process has already; a checked build reserves terabytes. */
static rlim_t mapped(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* What a crash says to the terminal is said in other words by the parent; it is the first to go when memory
 * runs out, and goes when the parent does. */
static void confine(rlim_t memory, size_t bytes, double seconds)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPIPE, SIGXCPU};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, (rlim_t)ceil(seconds));
    if (!CHECKED)
        limit(RLIMIT_AS, memory + ROOM + PER_BYTE * (rlim_t)bytes);
    int none = open("/dev/null", O_WRONLY | O_CLOEXEC), score = open("/proc/self/oom_score_adj", O_WRONLY);
    if (none >= 0) {
        dup2(none, STDOUT_FILENO);
        dup2(none, STDERR_FILENO);
    }
    if (score >= 0 && write(score, "1000", 4) == 4)
        close(score);
}

void und_child_put(und_child *child, const void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t wrote = write(child->pipe, (const char *)data + at, bytes - at);
        if (wrote < 0 && errno != EINTR)
            _exit(1);
        at += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* Processor time of the child, s; negative where it is gone. */
static double worked(const und_child *child)
{
    clockid_t clock;
    struct timespec t;
    bool there = clock_getcpuclockid(child->pid, &clock) == 0 && clock_gettime(clock, &t) == 0;
    return there ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : -1;
}

/* Waits until there is something to read, or the child does nothing any more, or has worked for too long. */
static bool wait_for(und_child *child)
{
    double before = worked(child);
    const int step = (int)ceil(1e3 * child->patience / LOOKS); /* ms */
    for (int idle = 0; idle < LOOKS && before <= child->seconds;) {
        struct pollfd p = {.fd = child->pipe, .events = POLLIN};
        int ready = poll(&p, 1, step);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
        const double now = worked(child);
        idle = now > before ? 0 : idle + (ready == 0);
        before = now;
    }
    return false;
}

bool und_child_get(und_child *child, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes && !child->ended;) {
        ssize_t got = wait_for(child) ? read(child->pipe, (char *)data + at, bytes - at) : 0;
        child->ended = got == 0 || (got < 0 && errno != EINTR);
        at += got > 0 ? (size_t)got : 0;
    }
    return !child->ended;
}

typedef struct answer {
    und_status status;
    und_error err;
} answer;

static double job_seconds(const und_child_job *job)
{
    return job->seconds > 0 ? job->seconds : SECONDS + (double)(job->bytes >> 20);
}

_Noreturn static void be_child(int pipe, rlim_t memory, const und_child_job *job)
{
    und_child self = {.pipe = pipe};
    answer a = {0};
    confine(memory, job->bytes, job_seconds(job));
    a.status = job->work(job->context, &a.err);
    und_child_put(&self, &a, sizeof a);
    if (a.status == UND_OK)
        job->give(&self, job->context);
    _exit(0);
}

static und_status take_answer(und_child *child, const und_child_job *job, und_error *err)
{
    und_status status = UND_OK;
    answer a;
    if (und_child_get(child, &a, sizeof a)) {
        a.err.text[sizeof a.err.text - 1] = 0;
        status = a.status == UND_OK ? job->take(child, job->context, err)
                                    : und_error_set(err, a.status == UND_INVALID ? UND_INVALID : UND_FAILED,
                                                    "%s", a.err.text);
    }
    if (child->ended)
        status = und_error_set(err, UND_FAILED, "cannot read %s: it is damaged", job->path);
    return status;
}

und_status und_child_run(const und_child_job *job, und_error *err)
{
    int ends[2];
    const rlim_t memory = mapped();
    if (pipe2(ends, O_CLOEXEC))
        return und_error_set(err, UND_FAILED, "cannot read %s: %s", job->path, strerror(errno));
    und_child child = {.pid = fork(),
                       .pipe = ends[0],
                       .seconds = job_seconds(job),
                       .patience = job->patience > 0 ? job->patience : PATIENCE};
    if (child.pid == 0) {
        close(ends[0]);
        be_child(ends[1], memory, job);
    }
    und_status status = child.pid < 0
                            ? und_error_set(err, UND_FAILED, "cannot read %s: no process for it: %s",
                                            job->path, strerror(errno))
                            : UND_OK;
    close(ends[1]);
    if (status == UND_OK)
        status = take_answer(&child, job, err);
    close(ends[0]);
    if (child.pid > 0) {
        if (status != UND_OK) /* else it has said all, and ends by itself */
            kill(child.pid, SIGKILL);
        while (waitpid(child.pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    return status;
}
