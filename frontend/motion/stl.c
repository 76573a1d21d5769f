// stl.c: triangles of STL files.
//
// Purpose: parts look as they were drawn elsewhere. Method: binary files have 80 bytes, a count and 50 bytes per triangle; text files lines
//   "vertex x y z". A file is binary when its length is what its count says. Source: 3D Systems, StereoLithography Interface Specification, 1989.
// Contract: solid.h. Complexity: linear in the file, of which 64 MB and 20,000 triangles are the most.
#include "frontend/motion/solid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 84, RECORD = 50, FILE_MOST = 64 << 20, TRIANGLES_MOST = 20000 };

static uint32_t
word_at(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static float
float_at(const unsigned char *bytes)
{
    uint32_t word = word_at(bytes);
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static void
read_binary(const unsigned char *bytes, uint32_t count, Mesh *mesh)
{
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < 9; i++)
            vec_push(&mesh->at, float_at(bytes + HEADER + (size_t)RECORD*k + 12 + 4*i));
}

static void
read_text(const char *text, Mesh *mesh)
{
    for (const char *at = text; (at = strstr(at, "vertex"));) {
        at += strlen("vertex");
        for (int i = 0; i < 3; i++) {
            char *end;
            double value = strtod(at, &end);
            if (end == at)
                return;
            vec_push(&mesh->at, (float)value);
            at = end;
        }
    }
}

static bool
is_finite(const Mesh *mesh)
{
    for (uint32_t i = 0; i < mesh->at.n; i++)
        if (!isfinite(mesh->at.at[i]))
            return false;
    return true;
}

bool
mesh_read(const char *path, Mesh *mesh, Out *why)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        out_printf(why, "%s: %s\n", path, strerror(errno));
        return false;
    }
    Out text = {0};
    char block[65536];
    for (size_t n; text.length <= FILE_MOST && (n = fread(block, 1, sizeof block, file));)
        out_bytes(&text, block, n);
    bool failed = ferror(file);
    fclose(file);
    const unsigned char *bytes = (const unsigned char *)text.text;
    uint32_t count = text.length >= HEADER ? word_at(bytes + 80) : 0;
    if (!failed && text.length >= HEADER && text.length == HEADER + (uint64_t)RECORD*count && count <= TRIANGLES_MOST)
        read_binary(bytes, count, mesh);
    else if (!failed && text.length && text.length <= FILE_MOST && !strncmp(text.text, "solid", 5))
        read_text(text.text, mesh);
    if (mesh->at.n < 9 || mesh->at.n % 9 || mesh->at.n > 9*TRIANGLES_MOST || !is_finite(mesh)) {
        out_printf(why, failed ? "%s: cannot be read\n" : "%s: no STL file of at most %d triangles\n", path, TRIANGLES_MOST);
        out_free(&text);
        return false;
    }
    out_free(&text);
    return true;
}

void
mesh_free(Mesh **mesh)
{
    vec_free(&(*mesh)->at);
    free(*mesh);
    *mesh = NULL;
}
