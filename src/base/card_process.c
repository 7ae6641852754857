/* A card that is a process of this machine: kernels are done by it one thread after the other, in the order
 * that a reader expects least, in memory of its own.  What it does not give the right bits, or stops at, no
 * card would do right: so what a card needs is tested where there is none. */
#include "base/card.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 14 }; /* of what a launch is given */

typedef struct order { /* seen by both */
    sem_t asked, done;
    int kernel;
    uint32_t threads;
    char call[MOST_BYTES], args[MOST_BYTES];
} order;

typedef struct card_process {
    const und_card_kernels *kernels;
    char *range, *host, *own; /* its memory as this process sees it */
    size_t bytes;
    int file; /* which is this */
    order *order;
    pid_t child;
} card_process;

static void serve(const card_process *p)
{
    order *o = p->order;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN); /* the other process decides */
    signal(SIGTERM, SIG_IGN);
    signal(SIGSEGV, SIG_DFL);
    if (mmap(p->range, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, p->file,
             0) != p->range)
        _exit(1);
    for (;;) {
        while (sem_wait(&o->asked) != 0)
            ;
        und_card_entry *entry = p->kernels->begin[o->kernel].entry;
        for (uint32_t t = o->threads; t-- > 0;)
            entry(o->call, o->args, t);
        sem_post(&o->done);
    }
}

static und_status start(card_process *p, und_error *err)
{
    p->file = memfd_create("undine card", MFD_CLOEXEC);
    if (p->file < 0 || ftruncate(p->file, (off_t)p->bytes) != 0)
        return und_error_set(err, UND_FAILED, "the card's process: no memory file");
    p->own = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, p->file, 0);
    p->order = mmap(NULL, sizeof *p->order, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p->own == MAP_FAILED || p->order == MAP_FAILED)
        return und_error_set(err, UND_FAILED, "the card's process: no memory");
    sem_init(&p->order->asked, 1, 0);
    sem_init(&p->order->done, 1, 0);
    p->child = fork();
    if (p->child == 0)
        serve(p);
    if (p->child < 0)
        return und_error_set(err, UND_FAILED, "the card's process: %s", strerror(errno));
    return UND_OK;
}

static und_status open_process(void **self, const und_card_kernels *kernels, char *range, size_t bytes,
                               char *host, und_error *err)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    return und_error_set(err, UND_FAILED,
                         "the card's process: a sanitizer's memory is where its own would be");
#endif
    card_process *p = und_alloc(1, sizeof *p, "the card's process", err);
    if (!p)
        return err->status;
    *p = (card_process){.kernels = kernels, .range = range, .host = host, .bytes = bytes, .file = -1};
    *self = p;
    return start(p, err);
}

static void close_process(void *self)
{
    card_process *p = self;
    if (p->child > 0) {
        kill(p->child, SIGKILL);
        waitpid(p->child, NULL, 0);
    }
    if (p->own && p->own != MAP_FAILED)
        munmap(p->own, p->bytes);
    if (p->order && p->order != MAP_FAILED)
        munmap(p->order, sizeof *p->order);
    if (p->file >= 0)
        close(p->file);
    free(p);
}

static und_status have(void *self, size_t offset, size_t bytes, und_error *err)
{
    const card_process *p = self;
    if (fallocate(p->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes) != 0)
        return und_error_set(err, UND_FAILED, "the card's process: %s", strerror(errno));
    return UND_OK;
}

static und_status put(void *self, size_t offset, size_t bytes, und_error *err)
{
    const card_process *p = self;
    (void)err;
    memcpy(p->own + offset, p->host + offset, bytes);
    return UND_OK;
}

static und_status get(void *self, size_t offset, size_t bytes, und_error *err)
{
    const card_process *p = self;
    (void)err;
    memcpy(p->host + offset, p->own + offset, bytes);
    return UND_OK;
}

static und_status clear(void *self, size_t offset, size_t bytes, und_error *err)
{
    const card_process *p = self;
    (void)err;
    memset(p->own + offset, 0, bytes);
    return UND_OK;
}

static int find(void *self, int named)
{
    (void)self;
    return named;
}

/* Until it is done, or the process has ended. */
static bool wait_done(const card_process *p)
{
    for (;;) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_sec += 1;
        if (sem_timedwait(&p->order->done, &soon) == 0)
            return true;
        if (errno == ETIMEDOUT && waitpid(p->child, NULL, WNOHANG) != 0)
            return false;
    }
}

static und_status launch(void *self, int kernel, const und_card_launch *l, und_error *err)
{
    const card_process *p = self;
    if (l->call_size > MOST_BYTES || l->args_size > MOST_BYTES)
        return und_error_set(err, UND_FAILED, "the card: %s is given too much", l->name);
    p->order->kernel = kernel;
    p->order->threads = l->threads;
    memcpy(p->order->call, l->call, l->call_size);
    memcpy(p->order->args, l->args, l->args_size);
    sem_post(&p->order->asked);
    if (!wait_done(p))
        return und_error_set(err, UND_FAILED, "the card: it ended in %s", l->name);
    return UND_OK;
}

static und_status wait_all(void *self, und_error *err)
{
    (void)self;
    (void)err;
    return UND_OK;
}

static const void *peek(void *self, size_t offset)
{
    return ((const card_process *)self)->own + offset;
}

static void describe(void *self, char *text, size_t size)
{
    (void)self;
    snprintf(text, size, "a process of this machine");
}

const und_card_kind und_card_process = {.name = "process",
                                        .open = open_process,
                                        .close = close_process,
                                        .have = have,
                                        .put = put,
                                        .get = get,
                                        .clear = clear,
                                        .find = find,
                                        .launch = launch,
                                        .wait = wait_all,
                                        .describe = describe,
                                        .peek = peek};
