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

enum { HOST_MAX = 256, TEXT_MAX = 300 };

typedef struct owner {
    char host[HOST_MAX];
    long pid;
} owner;

static owner myself(void)
{
    owner me = {.pid = (long)getpid()};
    if (gethostname(me.host, sizeof me.host - 1) || !me.host[0])
        snprintf(me.host, sizeof me.host, "localhost");
    return me;
}

static bool read_owner(int fd, owner *who)
{
    char text[TEXT_MAX] = "", end = 0;
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    return got > 0 && sscanf(text, "%255s %ld%c", who->host, &who->pid, &end) == 3 && end == '\n' &&
           who->pid > 0;
}

static bool is_dead(const owner *who)
{
    owner me = myself();
    return strcmp(who->host, me.host) == 0 && kill((pid_t)who->pid, 0) && errno == ESRCH;
}

static und_status write_failed(const char *path, und_error *err)
{
    return und_error_set(err, UND_FAILED, "cannot write the lock %s: %s", path, strerror(errno));
}

/* Rewrites the lock of a dead process in place, its line before its length, so that a kill in between leaves
 * no empty one.  Of several that try at once flock lets one in at a time, and the next then finds a living
 * owner. */
static und_status take_over(const char *path, und_error *err)
{
    owner who = {0}, me = myself();
    struct stat here, there;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return und_error_set(err, UND_FAILED, "cannot read the lock %s: %s", path, strerror(errno));
    und_status status = UND_OK;
    char text[TEXT_MAX];
    int length = snprintf(text, sizeof text, "%s %ld\n", me.host, me.pid);
    if (flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &here) || stat(path, &there) || here.st_ino != there.st_ino)
        status = und_error_set(err, UND_FAILED, "another process is taking the lock %s", path);
    else if (!read_owner(fd, &who))
        status = und_error_set(err, UND_FAILED, "cannot tell who holds the lock %s: remove it if nobody does",
                               path);
    else if (!is_dead(&who))
        status =
            und_error_set(err, UND_FAILED,
                          "process %ld on %s is writing this cache: wait for it, or remove %s if it is gone",
                          who.pid, who.host, path);
    else if (pwrite(fd, text, (size_t)length, 0) != length || ftruncate(fd, length) || fsync(fd))
        status = write_failed(path, err);
    close(fd);
    return status;
}

static und_status write_new(const char *path, int flags, und_error *err)
{
    char text[TEXT_MAX];
    owner me = myself();
    int length = snprintf(text, sizeof text, "%s %ld\n", me.host, me.pid);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
    if (fd < 0)
        return write_failed(path, err);
    und_status status = UND_OK;
    if (write(fd, text, (size_t)length) != length || fsync(fd)) {
        status = write_failed(path, err);
        unlink(path);
    }
    close(fd);
    return status;
}

/* Written under another name and linked, so that nobody meets an empty lock; link() fails where there is one,
 * as O_EXCL does, which serves on filesystems without links. */
und_status und_lock_take(const char *path, und_error *err)
{
    char temp[UND_PATH_MAX];
    und_status status = und_path_set(temp, err, "%s.%ld.tmp", path, (long)getpid());
    if (!status)
        status = write_new(temp, O_TRUNC, err);
    if (status)
        return status;
    if (link(temp, path)) {
        int cause = errno;
        struct stat info;
        if (cause == EEXIST || !lstat(path, &info))
            status = take_over(path, err);
        else if (cause == EPERM || cause == EOPNOTSUPP || cause == ENOSYS)
            status = write_new(path, O_EXCL, err);
        else
            status = write_failed(path, err);
    }
    unlink(temp);
    return status;
}

void und_lock_release(const char *path)
{
    owner who = {0}, me = myself();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (read_owner(fd, &who) && who.pid == me.pid && strcmp(who.host, me.host) == 0)
        unlink(path);
    close(fd);
}

bool und_lock_held(const char *path)
{
    owner who = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool dead = read_owner(fd, &who) && is_dead(&who);
    close(fd);
    return !dead;
}
