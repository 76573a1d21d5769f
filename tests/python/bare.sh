#!/bin/sh
# The wheel where there is Debian 12 with Python alone: no compiler, no linker, none of the libraries. `make bare` runs it (as root; needs debootstrap
# and a network). ROOT names a folder with such a system, which is made when it is not there.
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
cp "$wheel" "$root/try"
cp /etc/resolv.conf "$root/etc/resolv.conf" # pip fetches NumPy
[ -z "${PIP_INDEX_URL:-}" ] || set -- "PIP_INDEX_URL=$PIP_INDEX_URL"
inside() { env -i PATH=/usr/bin:/bin HOME=/try chroot "$root" "$@"; }
for tool in cc gcc ld clang; do
    if inside /bin/sh -c "command -v $tool" >/dev/null; then echo "there is a $tool"; exit 1; fi
done
inside /usr/bin/python3 -m venv /try/venv
PIP_CONFIG=${PIP_CONFIG_FILE:-/etc/pip.conf}
[ ! -e "$PIP_CONFIG" ] || cp "$PIP_CONFIG" "$root/etc/pip.conf"
inside /try/venv/bin/pip install -q "/try/$(basename "$wheel")"
inside /try/venv/bin/python -c "
import mdlc
r = mdlc.example('hello').run()
m = mdlc.compile(text='model Fall parameter Real g = 9.81; Real h(start = 1, fixed = true), v(start = 0, fixed = true); '
                      'equation der(h) = v; der(v) = -g; when h < 0 then reinit(v, -0.5*pre(v)); end when; end Fall;')
first = (2/9.81)**0.5
assert abs(m.run(stop=1).events[0] - first) < 1e-6
best = m.optimise('(h - 0.5)^2', {'g': (0.1, 5)}, stop=1)
assert abs(best['g'] - 1) < 1e-3, best
print('the wheel runs where there is Python alone:', len(r.time), 'rows')
"
rm -rf "$root/try"
