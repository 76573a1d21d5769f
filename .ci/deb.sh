#!/bin/sh
# usage: .ci/deb.sh BUILD    makes BUILD/mdlc_VERSION_ARCHITECTURE.deb of what `make install` installs.
#
# The same sources give the same bytes, in whatever folder: times are clamped to SOURCE_DATE_EPOCH (the last commit, or that of
# the change log), owners are root, debugging information, which has paths, is left out. The maintainer is who makes the
# package: DEBFULLNAME and DEBEMAIL, as for other Debian tools, or the author of the last commit.
set -eu
build=$1
top=$(cd "$(dirname "$0")/.." && pwd)
version=$("$build/mdlc" --version | sed 's/^mdlc //')
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct 2>/dev/null || stat -c %Y "$top/CHANGELOG.md")}
export SOURCE_DATE_EPOCH
maintainer=${DEBEMAIL:+${DEBFULLNAME:-$DEBEMAIL} <$DEBEMAIL>}
maintainer=${maintainer:-$(git -C "$top" log -1 --format='%an <%ae>' 2>/dev/null || true)}
[ -n "$maintainer" ] || { echo "deb.sh: no commit says who the maintainer is: set DEBFULLNAME and DEBEMAIL" >&2; exit 1; }
umask 022
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
make -C "$top" -s BUILD="$build" DESTDIR="$root" PREFIX=/usr install >/dev/null
install -d "$root/usr/share/doc/mdlc" "$root/DEBIAN"
install -m 644 "$top/LICENSE" "$root/usr/share/doc/mdlc/copyright"
gzip -9nc "$top/CHANGELOG.md" >"$root/usr/share/doc/mdlc/changelog.gz"
size=$(du -sk "$root/usr" | cut -f1)
cat >"$root/DEBIAN/control" <<C
Package: mdlc
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $size
Depends: libc6 (>= 2.36), gcc | c-compiler, libc6-dev
Recommends: liblapack3, gnuplot-nox, graphviz
Section: science
Priority: optional
Description: modelling compiler for mechanical systems with memory
 Models of bodies, constraints and memory elements in a Modelica-style
 language become multibond graphs, native code and trajectories, with every
 event located exactly. With gnuplot it draws results, with Graphviz bond
 graphs.
C
(cd "$root" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zgzip --build "$root" "$build/mdlc_${version}_$architecture.deb"
