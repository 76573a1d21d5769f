#!/bin/sh
# The wheel where there is Debian 12 with Python alone: no compiler, no linker, none of the libraries; the sources there say in a sentence what is
# missing. `make bare` runs it (as root; needs debootstrap and a network). ROOT names a folder with such a system, which is made when it is not there.
#   tests/python/bare.sh WHEEL
set -eu
wheel=$1
root=${ROOT:-$(mktemp -d)/root}
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || { echo "SKIP python/bare: debootstrap and root are needed"; exit 0; }
[ -x "$root/usr/bin/python3" ] || debootstrap --variant=minbase --include=python3-venv bookworm "$root" >/dev/null
size=$(wc -c <"$wheel")
[ "$size" -le 25000000 ] || { echo "the wheel has $size bytes"; exit 1; }
rm -rf "$root/try"
mkdir "$root/try"
# Libraries look beside the program that needs them by what /proc says of it.
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
cp "$wheel" "$root/try"
# NumPy is loaded here, for Debian 12's Python.
python3 -m pip download -q --no-deps --only-binary :all: --python-version 3.11 -d "$root/try" numpy
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/try chroot "$root" "$@"; }
for tool in cc gcc ld clang; do
    if inside /bin/sh -c "command -v $tool" >/dev/null; then echo "there is a $tool"; exit 1; fi
done
inside /usr/bin/python3 -m venv /try/venv
inside /try/venv/bin/pip install -q --no-index --find-links /try "/try/$(basename "$wheel")"
inside /try/venv/bin/python -c "
import mdlc
r = mdlc.example('hello').run()
m = mdlc.compile(text='model Fall parameter Real g = 9.81; Real h(start = 1, fixed = true), v(start = 0, fixed = true); '
                      'equation der(h) = v; der(v) = -g; when h < 0 then reinit(v, -0.5*pre(v)); end when; end Fall;')
first = (2/9.81)**0.5
assert abs(m.run(stop=1).events[0] - first) < 1e-6
best = m.optimise('(h - 0.5)^2', {'g': (0.1, 1.9)}, stop=1)
assert abs(best['g'] - 1) < 1e-3, best
print('the wheel runs where there is Python alone:', len(r.time), 'rows')
"
sources=$(python3 -c "import sys; sys.path.insert(0, sys.argv[1]); import wheel_backend; print(wheel_backend.build_sdist(sys.argv[2]))" \
    "$(dirname "$0")/../../frontend/python" "$root/try")
if inside /try/venv/bin/pip install --no-index --no-deps "/try/$sources" >"$root/try/said" 2>&1; then echo "the sources are built without a compiler"; exit 1; fi
grep -q 'mdlc: the compiler is built from C, and this computer lacks make, gcc, g++, flex, bison, llvm-19-dev: ' "$root/try/said" || { cat "$root/try/said"; exit 1; }
rm -rf "$root/try"
