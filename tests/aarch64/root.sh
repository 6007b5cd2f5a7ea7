#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# root.sh FOLDER PACKAGE...: unpacks Debian's arm64 packages, with what they need, into FOLDER, as the root of a cross
# compiler and of qemu-user. This machine's own packages stay as they are. Ends with 77 if there are none to be had.
set -euo pipefail

[ $# -ge 2 ] || { echo "usage: root.sh FOLDER PACKAGE..." >&2; exit 2; }
mkdir -p "$1"
root=$(realpath "$1")
shift
lists=$root.apt
libraries=$root/usr/lib/aarch64-linux-gnu
mkdir -p "$lists"/state/lists/partial "$lists"/cache/archives/partial
touch "$lists/status"

apt() {
  apt-get -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$lists/state" \
    -o Dir::State::status="$lists/status" -o Dir::Cache="$lists/cache" -o APT::Sandbox::User=root \
    -o Dpkg::Use-Pty=0 -qq "$@"
}

if ! apt update || ! apt install -y --no-install-recommends --download-only "$@" >/dev/null; then
  echo "Debian's packages for arm64 could not be had"
  exit 77
fi
for package in "$lists"/cache/archives/*.deb; do
  dpkg -x "$package" "$root"
done
# What scripts of the packages would do: an implementation of BLAS, where there is one, under its general name.
for library in "$libraries"/openblas-pthread/lib*.so*; do
  [ ! -e "$library" ] || ln -sfr "$library" "$libraries"
done
# Names from the root of the file system lead out of FOLDER.
find "$root" -type l -lname '/*' | while read -r link; do
  ln -sfnr "$root$(readlink "$link")" "$link"
done
grep -rlZ '/usr/lib/[a-z0-9_-]*/libdl.a' "$libraries/cmake" | xargs -0 -r sed -i 's#/usr/lib/[a-z0-9_-]*/libdl.a#dl#g'
