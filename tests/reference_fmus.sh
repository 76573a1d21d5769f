#!/bin/sh
# The Reference-FMUs of the Modelica Association, built from their source into FOLDER/2.0 and FOLDER/3.0 for tests/fmi: releases have no Roberts for every
# version of them. usage: tests/reference_fmus.sh FOLDER; REFERENCE_SOURCE names a folder with the source, which is loaded otherwise.
set -eu
version=0.0.41
[ ! -f "$1/3.0/Roberts.fmu" ] || exit 0
mkdir -p "$1/made"
source=${REFERENCE_SOURCE:-$1/made/Reference-FMUs-$version}
[ -d "$source" ] || curl -fsSL -m 60 "https://github.com/modelica/Reference-FMUs/archive/refs/tags/v$version.tar.gz" | tar xz -C "$1/made"
for fmi in 2 3; do
    # Its own flags make an error of a warning of GCC 12.
    cmake -S "$source" -B "$1/made/$fmi" -DFMI_VERSION=$fmi -DCMAKE_C_FLAGS=-Wno-stringop-truncation -DCMAKE_BUILD_TYPE=Release >"$1/made/log"
    models="BouncingBall Dahlquist Feedthrough Resource Stair VanDerPol"
    [ $fmi = 2 ] || models="$models Clocks Roberts StateSpace"
    # shellcheck disable=SC2086
    cmake --build "$1/made/$fmi" --target $models >>"$1/made/log" 2>&1
    mkdir -p "$1/$fmi.0"
    cp "$1/made/$fmi/fmus/"*.fmu "$1/$fmi.0/"
done
rm -rf "$1/made"
