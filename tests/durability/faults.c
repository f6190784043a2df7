/* Counts what a process and all that it starts write below one folder, and makes the n-th such call fail.
 *
 * Loaded with LD_PRELOAD, so that what SQLite writes is seen too. FAULTS_PLAN names a file, which all
 * processes map: the calls so far, and which of them fails, how, and whether all after it fail too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

struct plan {
  long calls;  /* so far, of all processes */
  long at;     /* which one fails, from 1; 0 for none */
  int error;   /* its errno */
  int half;    /* a write stores half of its bytes, and what follows fails */
  int lasting; /* what follows fails too, if it needs room on the disk */
  int memory;  /* calls of faults_count are counted, and no others */
  char only[16]; /* the name of the calls that are counted; empty for all */
  char folder[PATH_MAX];
  char told[PATH_MAX + 256]; /* the call that failed */
};

static struct plan *plan;

/* Map the plan; the constructor does, and a fork of a process that began without one. */
int faults_plan(const char *path) {
  static int (*real)(const char *, int, ...);
  if (!real) real = dlsym(RTLD_NEXT, "open");
  int file = real(path, O_RDWR);
  if (file < 0) return -1;
  void *found = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (found == MAP_FAILED) return -1;
  plan = found;
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULTS_PLAN");
  if (path && *path) faults_plan(path);
}

static int is_below(const char *path) {
  size_t length = strlen(plan->folder);
  return length && !strncmp(path, plan->folder, length) &&
         (path[length] == '/' || path[length] == 0);
}

static int names(int folder, const char *path) {
  char whole[2 * PATH_MAX], base[PATH_MAX], link[64];
  if (!plan || !path) return 0;
  if (path[0] == '/') return is_below(path);
  if (folder == AT_FDCWD) {
    if (!getcwd(base, sizeof base)) return 0;
  } else {
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t size = readlink(link, base, sizeof base - 1);
    if (size < 0) return 0;
    base[size] = 0;
  }
  snprintf(whole, sizeof whole, "%s/%s", base, path);
  return is_below(whole);
}

static int holds(int file) {
  char link[64], path[PATH_MAX];
  int before = errno;
  if (!plan || file < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t size = readlink(link, path, sizeof path - 1);
  errno = before;
  if (size < 0) return 0;
  path[size] = 0;
  return is_below(path);
}

/* Count a call, and say whether it fails: 1 with errno, 2 if it stores half. */
static int fails(const char *call, const char *path, int file, int needs_room) {
  if (plan->memory && file != -2) return 0;
  int counts = !*plan->only || !strcmp(plan->only, call);
  long number = counts ? __sync_add_and_fetch(&plan->calls, 1) : plan->calls;
  if (!plan->at || number < plan->at) return 0;
  if (number > plan->at || !counts) {
    if (!plan->lasting || (!needs_room && plan->error == ENOSPC)) return 0;
    errno = plan->error;
    return 1;
  }
  char link[64], found[PATH_MAX] = "";
  if (!path) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, found, sizeof found - 1);
    found[size < 0 ? 0 : size] = 0;
    path = found;
  }
  const char *shown = is_below(path) ? path + strlen(plan->folder) : path;
  snprintf(plan->told, sizeof plan->told, "%s %s", call, shown);
  errno = plan->error;
  return plan->half && !strcmp(call, "write") ? 2 : 1;
}

/* For faults that Python code makes: whether this call is the one that fails. */
int faults_count(const char *call) { return plan && plan->memory ? fails(call, "", -2, 0) : 0; }

#define REAL(kind, name, ...)                      \
  static kind (*real)(__VA_ARGS__);                \
  if (!real) real = dlsym(RTLD_NEXT, name)

#define OPENS(name)                                                                  \
  int name(const char *path, int flags, ...) {                                       \
    REAL(int, #name, const char *, int, ...);                                        \
    mode_t mode = 0;                                                                 \
    if (flags & (O_CREAT | O_TMPFILE)) {                                             \
      va_list more;                                                                  \
      va_start(more, flags);                                                         \
      mode = va_arg(more, mode_t);                                                   \
      va_end(more);                                                                  \
    }                                                                                \
    int writes = (flags & O_ACCMODE) != O_RDONLY;                                    \
    if (writes && names(AT_FDCWD, path) && fails("open", path, -1, 0)) \
      return -1;                                                                     \
    return real(path, flags, mode);                                                  \
  }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                                             \
  int name(int folder, const char *path, int flags, ...) {                         \
    REAL(int, #name, int, const char *, int, ...);                                 \
    mode_t mode = 0;                                                               \
    if (flags & (O_CREAT | O_TMPFILE)) {                                           \
      va_list more;                                                                \
      va_start(more, flags);                                                       \
      mode = va_arg(more, mode_t);                                                 \
      va_end(more);                                                                \
    }                                                                              \
    int writes = (flags & O_ACCMODE) != O_RDONLY;                                  \
    if (writes && names(folder, path) && fails("open", path, -1, 0)) \
      return -1;                                                                   \
    return real(folder, path, flags, mode);                                        \
  }
OPENS_AT(openat)
OPENS_AT(openat64)

ssize_t write(int file, const void *bytes, size_t size) {
  REAL(ssize_t, "write", int, const void *, size_t);
  if (holds(file)) {
    int how = fails("write", NULL, file, 1);
    if (how == 1 || (how == 2 && size < 2)) return -1;
    if (how == 2) return real(file, bytes, size / 2);
  }
  return real(file, bytes, size);
}

#define WRITES_AT(name, kind)                                                   \
  ssize_t name(int file, const void *bytes, size_t size, kind place) {          \
    REAL(ssize_t, #name, int, const void *, size_t, kind);                      \
    if (holds(file)) {                                                          \
      int how = fails("write", NULL, file, 1);                                  \
      if (how == 1 || (how == 2 && size < 2)) return -1;                        \
      if (how == 2) return real(file, bytes, size / 2, place);                  \
    }                                                                           \
    return real(file, bytes, size, place);                                      \
  }
WRITES_AT(pwrite, off_t)
WRITES_AT(pwrite64, off64_t)

#define ON_FILE(name)                                      \
  int name(int file) {                                     \
    REAL(int, #name, int);                                 \
    if (holds(file) && fails(#name, NULL, file, 0)) return -1; \
    return real(file);                                     \
  }
ON_FILE(fsync)
ON_FILE(fdatasync)

#define CUTS(name, kind)                                        \
  int name(int file, kind size) {                               \
    REAL(int, #name, int, kind);                                \
    if (holds(file) && fails("truncate", NULL, file, 0)) return -1; \
    return real(file, size);                                    \
  }
CUTS(ftruncate, off_t)
CUTS(ftruncate64, off64_t)

#define CUTS_PATH(name, kind)                                                \
  int name(const char *path, kind size) {                                    \
    REAL(int, #name, const char *, kind);                                    \
    if (names(AT_FDCWD, path) && fails("truncate", path, -1, 0)) return -1;  \
    return real(path, size);                                                 \
  }
CUTS_PATH(truncate, off_t)
CUTS_PATH(truncate64, off64_t)

int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  if (names(AT_FDCWD, to) && fails("rename", to, -1, 0)) return -1;
  return real(from, to);
}

int chmod(const char *path, mode_t mode) {
  REAL(int, "chmod", const char *, mode_t);
  if (names(AT_FDCWD, path) && fails("chmod", path, -1, 0)) return -1;
  return real(path, mode);
}

int fchmod(int file, mode_t mode) {
  REAL(int, "fchmod", int, mode_t);
  if (holds(file) && fails("chmod", NULL, file, 0)) return -1;
  return real(file, mode);
}

int rmdir(const char *path) {
  REAL(int, "rmdir", const char *);
  if (names(AT_FDCWD, path) && fails("rmdir", path, -1, 0)) return -1;
  return real(path);
}

int unlink(const char *path) {
  REAL(int, "unlink", const char *);
  if (names(AT_FDCWD, path) && fails("unlink", path, -1, 0)) return -1;
  return real(path);
}

int unlinkat(int folder, const char *path, int flags) {
  REAL(int, "unlinkat", int, const char *, int);
  if (names(folder, path) && fails("unlink", path, -1, 0)) return -1;
  return real(folder, path, flags);
}

int mkdir(const char *path, mode_t mode) {
  REAL(int, "mkdir", const char *, mode_t);
  if (names(AT_FDCWD, path) && fails("mkdir", path, -1, 0)) return -1;
  return real(path, mode);
}
