/* What lies outside a process's control, on cue: loaded into the relay with LD_PRELOAD.
 *
 * The file named by BELAY_FAULTS holds words. While a word is there:
 *   log-hang    writes to standard error do not return    log-broken   they fail (EIO)
 *   disk-hang   the journal's file does not answer        disk-broken  it fails (EIO)
 *   disk-full   the journal's file takes nothing (ENOSPC)
 *   dns-hang    names are looked up for ever              dns-broken   no name is known
 *   no-files    no further descriptor (EMFILE)
 *   clock=N     the calendar is N seconds ahead
 * The file is looked at every few milliseconds, so a fault begins and ends at any moment. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOG_HANG = 1, LOG_BROKEN = 2, DISK_HANG = 4, DISK_BROKEN = 8, DISK_FULL = 16,
       DNS_HANG = 32, DNS_BROKEN = 64, NO_FILES = 128 };
static const struct { const char *word; int bit; } WORDS[] = {
    {"log-hang", LOG_HANG}, {"log-broken", LOG_BROKEN}, {"disk-hang", DISK_HANG},
    {"disk-broken", DISK_BROKEN}, {"disk-full", DISK_FULL}, {"dns-hang", DNS_HANG},
    {"dns-broken", DNS_BROKEN}, {"no-files", NO_FILES},
};
static volatile int faults;
static volatile long ahead, looked;

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* The kernel itself is asked here: the functions below are the ones that are replaced. */
static long millis(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int now(void) {
    long at = millis();
    if (at - looked < 5) return faults;
    looked = at;
    const char *path = getenv("BELAY_FAULTS");
    char text[256] = "";
    int fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        long length = syscall(SYS_read, fd, text, sizeof text - 1);
        text[length > 0 ? length : 0] = 0;
        syscall(SYS_close, fd);
    } else if (path) {
        return faults;
    }
    int found = 0;
    for (unsigned i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strstr(text, WORDS[i].word)) found |= WORDS[i].bit;
    const char *clock = strstr(text, "clock=");
    ahead = clock ? atol(clock + 6) : 0;
    faults = found;
    return found;
}

static void hang(int bit) {
    while (now() & bit) {
        struct timespec nap = {0, 5000000};
        syscall(SYS_nanosleep, &nap, NULL);
    }
}

static int is_journal(const char *path) { return path && strstr(path, "belay.db"); }

static int is_journal_fd(int fd) {
    char link[64], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    return is_journal(path);
}

/* What the journal's file says to a call; 0: go on. */
static int disk(int is_mine, int writes) {
    if (!is_mine) return 0;
    hang(DISK_HANG);
    if (now() & DISK_BROKEN) return EIO;
    if (writes && (now() & DISK_FULL)) return ENOSPC;
    return 0;
}

#define DISK(fd, writes) \
    if (now() & (DISK_HANG | DISK_BROKEN | DISK_FULL)) { \
        int wrong = disk(is_journal_fd(fd), writes); \
        if (wrong) { errno = wrong; return -1; } \
    }

ssize_t write(int fd, const void *bytes, size_t length) {
    REAL(write);
    if (fd == 2) {
        hang(LOG_HANG);
        if (now() & LOG_BROKEN) { errno = EIO; return -1; }
    }
    DISK(fd, 1)
    return real(fd, bytes, length);
}

ssize_t pwrite(int fd, const void *b, size_t n, off_t at) { REAL(pwrite); DISK(fd, 1) return real(fd, b, n, at); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t at) { REAL(pwrite64); DISK(fd, 1) return real(fd, b, n, at); }
ssize_t pread(int fd, void *b, size_t n, off_t at) { REAL(pread); DISK(fd, 0) return real(fd, b, n, at); }
ssize_t pread64(int fd, void *b, size_t n, off64_t at) { REAL(pread64); DISK(fd, 0) return real(fd, b, n, at); }
int fsync(int fd) { REAL(fsync); DISK(fd, 0) return real(fd); }
int fdatasync(int fd) { REAL(fdatasync); DISK(fd, 0) return real(fd); }
int ftruncate(int fd, off_t n) { REAL(ftruncate); DISK(fd, 1) return real(fd, n); }
int ftruncate64(int fd, off64_t n) { REAL(ftruncate64); DISK(fd, 1) return real(fd, n); }

#define OPEN(path) \
    if (now() & NO_FILES) { errno = EMFILE; return -1; } \
    if (is_journal(path)) { int wrong = disk(1, 0); if (wrong) { errno = wrong; return -1; } } \
    int mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, int); va_end(more); }

int open(const char *path, int flags, ...) { REAL(open); OPEN(path) return real(path, flags, mode); }
int open64(const char *path, int flags, ...) { REAL(open64); OPEN(path) return real(path, flags, mode); }

int statx(int at, const char *restrict path, int flags, unsigned mask, struct statx *restrict out) {
    REAL(statx);
    if (is_journal(path)) { int wrong = disk(1, 0); if (wrong) { errno = wrong; return -1; } }
    return real(at, path, flags, mask, out);
}

int socket(int domain, int type, int protocol) {
    REAL(socket);
    if (now() & NO_FILES) { errno = EMFILE; return -1; }
    return real(domain, type, protocol);
}

int accept4(int fd, struct sockaddr *restrict from, socklen_t *restrict length, int flags) {
    REAL(accept4);
    if (now() & NO_FILES) { errno = EMFILE; return -1; }
    return real(fd, from, length, flags);
}

int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict out) {
    REAL(getaddrinfo);
    hang(DNS_HANG);
    if (now() & DNS_BROKEN) return EAI_AGAIN;
    return real(node, service, hints, out);
}

int clock_gettime(clockid_t clock, struct timespec *out) {
    REAL(clock_gettime);
    int done = real(clock, out);
    if (clock == CLOCK_REALTIME) {
        now();
        out->tv_sec += ahead;
    }
    return done;
}
