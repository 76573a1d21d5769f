#!/bin/sh
# Debian's Slurm, unpacked into a folder and not installed, for tests/cli/slurm.check. usage: tests/slurm.sh FOLDER
set -eu
mkdir -p "$1/archives/partial"
cd "$1"
[ ! -x root/usr/sbin/slurmd-wlm ] || exit 0
apt-get -q -y --download-only --no-install-recommends -o Debug::NoLocking=1 -o Dir::Cache::archives="$PWD/archives" install slurmctld slurmd slurm-client >/dev/null
for package in archives/*.deb; do
    dpkg-deb -x "$package" root
done
rm -rf archives
