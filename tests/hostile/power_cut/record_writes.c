/* Records every change to the files below a directory, for `disk_model.py`. Linux, LD_PRELOAD.

   RECORD_WRITES_ROOT   the directory, an absolute path without links
   RECORD_WRITES_LOG    the log, outside of it; `recording.py` has its format

   A lock on the log makes the operation and its record one step for all threads and processes, so
   the log has the order of the operations. The log is opened for each record, because a recorded
   program may close all of its descriptors. fsync, fdatasync and sync are recorded only: what they
   make durable is decided by the model, and a test need not wait for a disk.

   Not recorded: files whose name ends in -shm (SQLite maps and rebuilds them), FIFOs and links, and
   calls inside the C library, such as those of fopen. The test compares the replay of the complete
   log with the directory, so that a change that is not recorded fails. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
    CREATE = 1, WRITE, TRUNCATE, RENAME, UNLINK, MAKE_FOLDER, REMOVE_FOLDER, LINK,
    SYNC_FILE, SYNC_FOLDER, SYNC_ALL, MARK,
};

struct header {
    uint32_t kind, first_length, second_length, data_length;
    uint64_t file; /* inode number */
    uint64_t offset;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Paths */

static int is_recorded(const char *path)
{
    const char *root = getenv("RECORD_WRITES_ROOT");
    size_t root_length = root ? strlen(root) : 0, length = strlen(path);
    if (!root_length || strncmp(path, root, root_length) != 0)
        return 0;
    if (path[root_length] != '/' && path[root_length] != '\0')
        return 0;
    return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

static int descriptor_path(int descriptor, char *path)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0)
        return 0;
    path[length] = '\0';
    return 1;
}

/* Whether the path in `folder` is below the directory; then `resolved` is its absolute form. */
static int resolve(int folder, const char *path, char *resolved)
{
    char base[PATH_MAX];
    if (path[0] == '/')
        return snprintf(resolved, PATH_MAX, "%s", path) < PATH_MAX && is_recorded(resolved);
    if (folder == AT_FDCWD ? !getcwd(base, sizeof base) : !descriptor_path(folder, base))
        return 0;
    return snprintf(resolved, PATH_MAX, "%s/%s", base, path) < PATH_MAX && is_recorded(resolved);
}

/* Whether the descriptor is of a file or folder below the directory. */
static int is_recorded_descriptor(int descriptor, struct stat *status, char *path)
{
    int saved = errno;
    int is_ours = getenv("RECORD_WRITES_ROOT") && fstat(descriptor, status) == 0
        && (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode))
        && descriptor_path(descriptor, path) && is_recorded(path);
    errno = saved;
    return is_ours;
}

/* The log */

static void give_up(const char *call)
{
    perror(call);
    abort();
}

static int begin(void)
{
    int saved = errno;
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    pthread_mutex_lock(&mutex);
    int log = syscall(SYS_openat, AT_FDCWD, getenv("RECORD_WRITES_LOG"),
                      O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (log < 0 || syscall(SYS_fcntl, log, F_SETLKW, &whole) != 0)
        give_up("record_writes: log");
    errno = saved;
    return log;
}

static void end(int log)
{
    int saved = errno;
    close(log); /* releases the lock */
    pthread_mutex_unlock(&mutex);
    errno = saved;
}

static void append(int log, enum kind kind, const char *first, const char *second, uint64_t file,
                   uint64_t offset, const void *data, size_t length)
{
    int saved = errno;
    struct header header = {kind, strlen(first), strlen(second), length, file, offset};
    struct iovec parts[] = {
        {&header, sizeof header},
        {(void *)first, header.first_length},
        {(void *)second, header.second_length},
        {(void *)data, length},
    };
    ssize_t size = sizeof header + header.first_length + header.second_length + length;
    if (syscall(SYS_writev, log, parts, 4) != size)
        give_up("record_writes: write");
    errno = saved;
}

/* Called by a recorded program through ctypes: a position in the log with a text. */
void record_mark(const char *text)
{
    int log = begin();
    append(log, MARK, "", "", 0, 0, text, strlen(text));
    end(log);
}

/* Files */

static int open_recorded(int folder, const char *path, int flags, mode_t mode)
{
    char resolved[PATH_MAX];
    struct stat status;
    if (!(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE
        || !resolve(folder, path, resolved))
        return syscall(SYS_openat, folder, path, flags, mode);
    int log = begin();
    int saved = errno;
    int existed = fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0;
    errno = saved;
    int descriptor = syscall(SYS_openat, folder, path, flags, mode);
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
        if (!existed)
            append(log, CREATE, resolved, "", status.st_ino, 0, "", 0);
        else if (flags & O_TRUNC)
            append(log, TRUNCATE, "", "", status.st_ino, 0, "", 0);
    }
    end(log);
    return descriptor;
}

#define MODE_OF(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...)
{
    MODE_OF(flags)
    return open_recorded(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE_OF(flags)
    return open_recorded(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    MODE_OF(flags)
    return open_recorded(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    MODE_OF(flags)
    return open_recorded(folder, path, flags, mode);
}

ssize_t write(int descriptor, const void *data, size_t length)
{
    struct stat status;
    char path[PATH_MAX];
    if (!is_recorded_descriptor(descriptor, &status, path))
        return syscall(SYS_write, descriptor, data, length);
    int log = begin();
    ssize_t written = syscall(SYS_write, descriptor, data, length);
    if (written > 0) /* also after an append, the position is the end of the written data */
        append(log, WRITE, "", "", status.st_ino,
               lseek(descriptor, 0, SEEK_CUR) - written, data, written);
    end(log);
    return written;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count)
{
    struct stat status;
    char path[PATH_MAX];
    if (!is_recorded_descriptor(descriptor, &status, path))
        return syscall(SYS_writev, descriptor, parts, count);
    int log = begin();
    ssize_t written = syscall(SYS_writev, descriptor, parts, count);
    off_t position = lseek(descriptor, 0, SEEK_CUR) - written;
    ssize_t left = written;
    for (int part = 0; left > 0 && part < count; part++) {
        ssize_t length = (ssize_t)parts[part].iov_len < left ? (ssize_t)parts[part].iov_len : left;
        append(log, WRITE, "", "", status.st_ino, position, parts[part].iov_base, length);
        position += length;
        left -= length;
    }
    end(log);
    return written;
}

ssize_t pwrite64(int descriptor, const void *data, size_t length, off64_t offset)
{
    struct stat status;
    char path[PATH_MAX];
    if (!is_recorded_descriptor(descriptor, &status, path))
        return syscall(SYS_pwrite64, descriptor, data, length, offset);
    int log = begin();
    ssize_t written = syscall(SYS_pwrite64, descriptor, data, length, offset);
    if (written > 0)
        append(log, WRITE, "", "", status.st_ino, offset, data, written);
    end(log);
    return written;
}

ssize_t pwrite(int descriptor, const void *data, size_t length, off_t offset)
{
    return pwrite64(descriptor, data, length, offset);
}

int ftruncate64(int descriptor, off64_t size)
{
    struct stat status;
    char path[PATH_MAX];
    if (!is_recorded_descriptor(descriptor, &status, path))
        return syscall(SYS_ftruncate, descriptor, size);
    int log = begin();
    int result = syscall(SYS_ftruncate, descriptor, size);
    if (result == 0)
        append(log, TRUNCATE, "", "", status.st_ino, size, "", 0);
    end(log);
    return result;
}

int ftruncate(int descriptor, off_t size)
{
    return ftruncate64(descriptor, size);
}

/* Names */

int renameat2(int from, const char *old, int to, const char *new, unsigned int flags)
{
    char source[PATH_MAX], target[PATH_MAX];
    int is_from = resolve(from, old, source), is_to = resolve(to, new, target);
    if (!is_from && !is_to)
        return syscall(SYS_renameat2, from, old, to, new, flags);
    if (is_from != is_to || (flags & RENAME_EXCHANGE)) {
        fprintf(stderr, "record_writes: %s to %s cannot be replayed\n", source, target);
        abort();
    }
    int log = begin();
    int result = syscall(SYS_renameat2, from, old, to, new, flags);
    if (result == 0)
        append(log, RENAME, source, target, 0, 0, "", 0);
    end(log);
    return result;
}

int renameat(int from, const char *old, int to, const char *new)
{
    return renameat2(from, old, to, new, 0);
}

int rename(const char *old, const char *new)
{
    return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int unlinkat(int folder, const char *path, int flags)
{
    char resolved[PATH_MAX];
    if (!resolve(folder, path, resolved))
        return syscall(SYS_unlinkat, folder, path, flags);
    int log = begin();
    int result = syscall(SYS_unlinkat, folder, path, flags);
    if (result == 0)
        append(log, flags & AT_REMOVEDIR ? REMOVE_FOLDER : UNLINK, resolved, "", 0, 0, "", 0);
    end(log);
    return result;
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    char resolved[PATH_MAX];
    if (!resolve(folder, path, resolved))
        return syscall(SYS_mkdirat, folder, path, mode);
    int log = begin();
    int result = syscall(SYS_mkdirat, folder, path, mode);
    if (result == 0)
        append(log, MAKE_FOLDER, resolved, "", 0, 0, "", 0);
    end(log);
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    char source[PATH_MAX], target[PATH_MAX];
    if (!resolve(to, new, target) || !resolve(from, old, source))
        return syscall(SYS_linkat, from, old, to, new, flags);
    int log = begin();
    int result = syscall(SYS_linkat, from, old, to, new, flags);
    if (result == 0)
        append(log, LINK, source, target, 0, 0, "", 0);
    end(log);
    return result;
}

int link(const char *old, const char *new)
{
    return linkat(AT_FDCWD, old, AT_FDCWD, new, 0);
}

/* Flushes */

static int sync_recorded(int descriptor, long number)
{
    struct stat status;
    char path[PATH_MAX];
    if (!is_recorded_descriptor(descriptor, &status, path))
        return syscall(number, descriptor);
    int log = begin();
    if (S_ISDIR(status.st_mode))
        append(log, SYNC_FOLDER, path, "", 0, 0, "", 0);
    else
        append(log, SYNC_FILE, "", "", status.st_ino, 0, "", 0);
    end(log);
    return 0;
}

int fsync(int descriptor)
{
    return sync_recorded(descriptor, SYS_fsync);
}

int fdatasync(int descriptor)
{
    return sync_recorded(descriptor, SYS_fdatasync);
}

void sync(void)
{
    int log = begin();
    append(log, SYNC_ALL, "", "", 0, 0, "", 0);
    end(log);
}
