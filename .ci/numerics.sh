#!/bin/sh
# usage: .ci/numerics.sh FOLDER    the sources of SUNDIALS and SuiteSparse that runtime/foreign.mk compiles, as Debian 12 has them, into FOLDER.
# Archives that lie in NUMERICS (a folder) are taken from there; the others are loaded from Debian's archive.
set -eu
folder=$1
mirror=${MIRROR:-http://deb.debian.org/debian}/pool/main/s
mkdir -p "$folder/archives" "$folder/include/sundials" "$folder/include/ida"
take() { # NAME ARCHIVE SUM PATTERN...
    name=$1 archive=$2 sum=$3
    shift 3
    here=${NUMERICS:-$folder/archives}/$archive
    [ -f "$here" ] || { echo "loading $archive"; curl -fsSL -m 300 -o "$here" "$mirror/$name/$archive"; }
    echo "$sum  $here" | sha256sum -c --quiet
    rm -rf "${folder:?}/$name"
    mkdir "$folder/$name"
    tar xJf "$here" -C "$folder/$name" --strip-components=1 --wildcards "$@"
}
take sundials sundials_6.4.1+dfsg1.orig.tar.xz c61157f1d4be06c704bea40cb131eb63ba2dada161989071604d0a0959cdf04a \
    '*/include/*.h' '*/src/ida/*.[ch]' '*/src/sundials/*.[ch]' '*/src/nvector/serial/*.c' '*/src/sunnonlinsol/newton/*.c' '*/LICENSE'
take suitesparse suitesparse_5.12.0+dfsg.orig.tar.xz bb106c43049138c19675cd70322e72ff8e4fd8bdcab3a096307fd78488913faf \
    '*/KLU/*.[ch]' '*/BTF/*.[ch]' '*/AMD/*.[ch]' '*/COLAMD/*.[ch]' '*/SuiteSparse_config/*.[ch]'
# What a configuration of SUNDIALS would write: double precision, indices of 64 bits, no MPI, everything static.
cat >"$folder/include/sundials/sundials_config.h" <<'C'
#ifndef FOREIGN_SUNDIALS_CONFIG_H
#define FOREIGN_SUNDIALS_CONFIG_H
#include "sundials/sundials_export.h"
#define SUNDIALS_DEPRECATED_EXPORT
#define SUNDIALS_DEPRECATED_MSG(text)
#define SUNDIALS_DEPRECATED_EXPORT_MSG(text)
#define SUNDIALS_DEPRECATED_NO_EXPORT_MSG(text)
#define SUNDIALS_VERSION "6.4.1"
#define SUNDIALS_VERSION_MAJOR 6
#define SUNDIALS_VERSION_MINOR 4
#define SUNDIALS_VERSION_PATCH 1
#define SUNDIALS_VERSION_LABEL ""
#define SUNDIALS_GIT_VERSION ""
#define SUNDIALS_C_COMPILER_HAS_MATH_PRECISIONS
#define SUNDIALS_C_COMPILER_HAS_ISINF_ISNAN
#define SUNDIALS_C_COMPILER_HAS_INLINE
#define SUNDIALS_C_COMPILER_HAS_SNPRINTF_AND_VA_COPY
#define SUNDIALS_DOUBLE_PRECISION 1
#define SUNDIALS_INT64_T 1
#define SUNDIALS_INDEX_TYPE int64_t
#define SUNDIALS_LOGGING_LEVEL 0
#define SUNDIALS_MPI_ENABLED 0
#define SUNDIALS_CXX_BOOL int
#endif
C
printf '#define SUNDIALS_EXPORT\n#define SUNDIALS_NO_EXPORT\n' >"$folder/include/sundials/sundials_export.h"
cp "$folder/sundials/src/ida/ida_impl.h" "$folder/include/ida/" # which Debian installs
touch "$folder/ready"
