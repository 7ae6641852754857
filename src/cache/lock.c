#include "cache/lock.h"

#include "base/file.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOST_MAX = 256, BOOT_MAX = 40, TEXT_MAX = 400 };

typedef struct owner {
    char host[HOST_MAX];
    long pid;
    char boot[BOOT_MAX];      /* which start of which kernel; empty where it is not known */
    unsigned long long start; /* of the process, in ticks since then: a pid alone comes again */
} owner;

/* Is a file locked by a process that lives?  The kernel knows, of all its containers too; not all filesystems
 * ask it. */
typedef enum hold { HELD, FREE, UNKNOWN } hold;

static void read_line(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, (int)size, file))
        text[0] = 0;
    text[strcspn(text, "\n")] = 0;
    if (file)
        fclose(file);
}

/* 0 where there is no such process, or no /proc. */
static unsigned long long start_of(long pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    read_line(path, text, sizeof text);
    const char *at = strrchr(text, ')'); /* the name before may hold anything */
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    unsigned long long start = 0;
    return at && sscanf(at, "%llu", &start) == 1 ? start : 0;
}

static owner myself(void)
{
    owner me = {.pid = (long)getpid()};
    if (gethostname(me.host, sizeof me.host - 1) || !me.host[0])
        snprintf(me.host, sizeof me.host, "localhost");
    read_line("/proc/sys/kernel/random/boot_id", me.boot, sizeof me.boot);
    me.start = start_of(me.pid);
    return me;
}

static bool read_owner(int fd, owner *who)
{
    char text[TEXT_MAX] = "";
    *who = (owner){0};
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    return got > 0 && text[got - 1] == '\n' &&
           sscanf(text, "%255s %ld %39s %llu", who->host, &who->pid, who->boot, &who->start) >= 2 &&
           who->pid > 0;
}

static bool is_dead(const owner *who, hold h)
{
    const owner me = myself();
    const bool same_host = strcmp(who->host, me.host) == 0;
    if (h == HELD)
        return false;
    if (!who->boot[0] || !me.boot[0]) /* a lock without them, or a system */
        return same_host && kill((pid_t)who->pid, 0) && errno == ESRCH;
    if (strcmp(who->boot, me.boot) != 0)
        return same_host; /* this machine, before it was started again */
    return h == FREE || (same_host && start_of(who->pid) != who->start);
}

static hold try_lock(int fd, int kind)
{
    return flock(fd, kind | LOCK_NB) == 0 ? FREE : errno == EWOULDBLOCK ? HELD : UNKNOWN;
}

static und_status write_failed(const char *path, und_error *err)
{
    return und_error_set(err, UND_FAILED, "cannot write the lock %s: %s", path, strerror(errno));
}

static int print_myself(char text[TEXT_MAX])
{
    const owner me = myself();
    return me.boot[0] ? snprintf(text, TEXT_MAX, "%s %ld %s %llu\n", me.host, me.pid, me.boot, me.start)
                      : snprintf(text, TEXT_MAX, "%s %ld\n", me.host, me.pid);
}

static und_status refuse(const char *path, const owner *who, und_error *err)
{
    return und_error_set(err, UND_FAILED,
                         "process %ld on %s is writing this cache: wait for it, or remove %s if it is gone",
                         who->pid, who->host, path);
}

/* Rewrites the lock of a dead process in place, its line before its length, so that a kill in between leaves
 * no empty one.  Of several that try at once flock lets one in. */
static und_status take_over(const char *path, int *fd, und_error *err)
{
    owner who;
    struct stat here, there;
    char text[TEXT_MAX];
    const int length = print_myself(text);
    *fd = open(path, O_RDWR | O_CLOEXEC);
    if (*fd < 0)
        return und_error_set(err, UND_FAILED, "cannot read the lock %s: %s", path, strerror(errno));
    und_status status = UND_OK;
    const hold h = try_lock(*fd, LOCK_EX);
    if (fstat(*fd, &here) || stat(path, &there) || here.st_ino != there.st_ino)
        status = und_error_set(err, UND_FAILED, "another process is taking the lock %s", path);
    else if (!read_owner(*fd, &who))
        status = und_error_set(err, UND_FAILED, "cannot tell who holds the lock %s: remove it if nobody does",
                               path);
    else if (!is_dead(&who, h))
        status = refuse(path, &who, err);
    else if (pwrite(*fd, text, (size_t)length, 0) != length || ftruncate(*fd, length) || fsync(*fd))
        status = write_failed(path, err);
    if (status)
        close(*fd);
    return status;
}

static und_status write_new(const char *path, int flags, int *fd, und_error *err)
{
    char text[TEXT_MAX];
    const int length = print_myself(text);
    *fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
    if (*fd < 0)
        return write_failed(path, err);
    try_lock(*fd, LOCK_EX);
    if (write(*fd, text, (size_t)length) == length && fsync(*fd) == 0)
        return UND_OK;
    write_failed(path, err);
    unlink(path);
    close(*fd);
    return UND_FAILED;
}

/* Written under another name and linked, so that nobody meets an empty lock; link() fails where there is one,
 * as O_EXCL does, which serves on filesystems without links. */
und_status und_lock_take(const char *path, int *fd, und_error *err)
{
    char temp[UND_PATH_MAX];
    und_status status = und_path_set(temp, err, "%s.%ld.tmp", path, (long)getpid());
    if (!status)
        status = write_new(temp, O_TRUNC, fd, err);
    if (status)
        return status;
    if (link(temp, path)) {
        int cause = errno;
        struct stat info;
        close(*fd);
        if (cause == EEXIST || !lstat(path, &info))
            status = take_over(path, fd, err);
        else if (cause == EPERM || cause == EOPNOTSUPP || cause == ENOSYS)
            status = write_new(path, O_EXCL, fd, err);
        else {
            errno = cause;
            status = write_failed(path, err);
        }
    }
    unlink(temp);
    return status;
}

void und_lock_release(const char *path, int fd)
{
    struct stat here, there;
    if (fstat(fd, &here) == 0 && stat(path, &there) == 0 && here.st_ino == there.st_ino &&
        here.st_dev == there.st_dev)
        unlink(path);
    close(fd);
}

bool und_lock_held(const char *path)
{
    owner who;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool dead = read_owner(fd, &who) && is_dead(&who, try_lock(fd, LOCK_SH));
    close(fd);
    return !dead;
}
