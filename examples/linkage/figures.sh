#!/bin/sh
# Figure 2 of I. I. Kosenko, Mechanical constraint arrangement and its multibond graph representation, for each class of joints of its
# section 3: bond graphs of one joint between two bodies (joints.mdl).
#
#   examples/linkage/figures.sh [DIRECTORY]      default: build/figures; FORMAT=png makes pictures of pixels
#
# joint_NAME.svg            as mdlc draws it: a 0-junction, an arm to each body, the axes, and what closes each scalar bond
# joint_NAME_canonical.svg  with the junctions of the canonical form between axes and closures
# Needs Graphviz. MDLC names another compiler than build/mdlc.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
mdlc=${MDLC:-$top/build/mdlc}
pictures=${1:-$top/build/figures}
command -v dot >/dev/null || { echo "figures.sh: Graphviz (dot) is not installed" >&2; exit 2; }
mkdir -p "$pictures"
format=${FORMAT:-svg}

for name in FixedIdeal FreeIdeal SpringIdeal FixedControlled FreeSlide FixedServo; do
    for form in "" --canonical; do
        file=$pictures/joint_$name${form:+_canonical}
        # shellcheck disable=SC2086
        "$mdlc" show bonds "$here/joints.mdl" -m "Joints.$name" -Wno-floating $form --format=dot >"$file.dot"
        dot "-T$format" "$file.dot" -o "$file.$format"
        rm "$file.dot"
    done
done
