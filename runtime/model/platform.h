// platform.h: shared libraries, and what Windows lacks of POSIX where models need it.
#ifndef MDLC_RUNTIME_MODEL_PLATFORM_H
#define MDLC_RUNTIME_MODEL_PLATFORM_H

#ifdef _WIN32
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Of the system's own header, which would bring a thousand names along.
extern __declspec(dllimport) void *LoadLibraryA(const char *path);
extern __declspec(dllimport) void *GetProcAddress(void *library, const char *name);
extern __declspec(dllimport) int FreeLibrary(void *library);
extern __declspec(dllimport) unsigned long GetLastError(void);

#define PLATFORM_LAPACK "liblapack.dll"
#define PLATFORM_ZLIB   "zlib1.dll"

static inline void *
platform_load(const char *path)
{
    return LoadLibraryA(path);
}

static inline void *
platform_symbol(void *library, const char *name)
{
    return GetProcAddress(library, name);
}

static inline int
platform_unload(void *library)
{
    return FreeLibrary(library) ? 0 : -1;
}

// Of the last platform_load() that gave NULL.
static inline const char *
platform_problem(char text[64])
{
    snprintf(text, 64, "Windows error %lu", GetLastError());
    return text;
}

static inline char *
strndup(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

// With its end; bytes, or -1 behind the last one.
static inline long long
getline(char **line, size_t *room, FILE *file)
{
    size_t length = 0;
    for (int c = getc(file); c != EOF; c = getc(file)) {
        if (length + 2 > *room) {
            size_t wanted = 2 * *room + 100;
            char *more = realloc(*line, wanted);
            if (!more)
                return -1;
            *line = more;
            *room = wanted;
        }
        (*line)[length++] = (char)c;
        if (c == '\n')
            break;
    }
    if (length)
        (*line)[length] = '\0';
    return length ? (long long)length : -1;
}

static inline char *
realpath(const char *path, char *none)
{
    return _fullpath(none, path, 0);
}

static inline void
platform_local_time(time_t now, struct tm *day)
{
    localtime_s(day, &now);
}

static inline void
platform_set_default(const char *name, const char *value)
{
    if (!getenv(name))
        _putenv_s(name, value);
}

static inline bool
platform_is_link(const char *path)
{
    (void)path;
    return false;
}
#else
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define PLATFORM_LAPACK "liblapack.so.3"
#define PLATFORM_ZLIB   "libz.so.1"

static inline void *
platform_load(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static inline void *
platform_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

static inline int
platform_unload(void *library)
{
    return dlclose(library);
}

// Of the last platform_load() that gave NULL.
static inline const char *
platform_problem(char text[64])
{
    const char *why = dlerror();
    (void)text;
    return why ? why : "for a reason that is not told";
}

static inline void
platform_local_time(time_t now, struct tm *day)
{
    localtime_r(&now, day);
}

static inline bool
platform_is_link(const char *path)
{
    struct stat info;
    return !lstat(path, &info) && S_ISLNK(info.st_mode);
}

static inline void
platform_set_default(const char *name, const char *value)
{
    setenv(name, value, 0);
}
#endif

#endif
