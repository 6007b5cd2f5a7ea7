#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# clients.sh FOLDER SOURCES: installs the Debian packages of FOLDER into a copy of this system, builds the clients of
# tests/install against them there, and runs them and what the packages contain on two ranks. The copy is a layer over
# the root's file system within namespaces of its own: the kernel removes it with this script. Nothing of SOURCES can be
# seen in it but the clients. Ends with 77 where the system does not allow it.
set -euo pipefail
packages=$(realpath "$1")
sources=$(realpath "$2")
skip() { echo "SKIPPED: $*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }
[ "$(id -u)" -eq 0 ] || skip "dpkg installs as root only"
command -v dpkg >/dev/null || skip "no dpkg here"

if [ -z "${TUTTI_TEST_WITHIN_NAMESPACES:-}" ]; then
  unshare --mount --pid --fork true 2>/dev/null || skip "namespaces of processes and mounts are not allowed here"
  TUTTI_TEST_WITHIN_NAMESPACES=1 exec unshare --mount --pid --fork --kill-child --mount-proc --propagation private \
    "$0" "$packages" "$sources"
fi

# The upper layer is in memory; below it is this system, read only.
layers=/run
mount -t tmpfs -o size=4g tmpfs $layers
mkdir $layers/{upper,work,root}
mount -t overlay overlay -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" $layers/root 2>/dev/null ||
  skip "no layers of file systems (overlay) here"
root=$layers/root
for part in dev proc sys; do mount --rbind "/$part" "$root/$part"; done
mkdir -p "$root/srv/packages" "$root/srv/clients"
cp "$packages"/*.deb "$root/srv/packages"
cp -r "$sources/tests/install/"{c,cxx,fortran} "$sources/tests/preload/fortran.F90" "$root/srv/clients"
mount -t tmpfs tmpfs "$root$sources"
mount -t tmpfs tmpfs "$root/run"

within() { chroot "$root" env -u LD_LIBRARY_PATH -u LD_PRELOAD -u CMAKE_PREFIX_PATH HOME=/root "$@"; }

# dpkg configures no package without those that it depends on.
within sh -c 'dpkg --install /srv/packages/*.deb' >"$layers/dpkg.log" 2>&1 || { cat "$layers/dpkg.log"; fail "dpkg"; }
within dpkg-query -W -f '${Package} ${Version} ${Status}: ${Depends}\n' libtutti0 libtutti-dev tutti-bin tutti-mpi

for client in c cxx fortran; do
  within cmake -S "/srv/clients/$client" -B "/srv/$client" -G Ninja >"$layers/log" 2>&1 &&
    within cmake --build "/srv/$client" >"$layers/log" 2>&1 || { cat "$layers/log"; fail "the client in $client"; }
  within mpiexec.mpich -n 2 "/srv/$client/client"
done
within pkg-config --exists tutti tutti_fortran || fail "pkg-config does not find the package"

# The loader takes the kernels of the best level that the processor has, or that it may take.
loader=$(ls /lib64/ld-linux-x86-64.so.2)
levels=$($loader --help | sed -n 's/^  \(x86-64-v[34]\) (supported, searched)$/\1/p')
folder=/lib/$(gcc -print-multiarch)
for level in $levels none; do
  part=/glibc-hwcaps/$level
  [ "$level" != none ] || part=''
  within "$loader" --glibc-hwcaps-mask "$level" --list /srv/cxx/client >"$layers/log"
  grep -q "=> \(/usr\)\?$folder$part/libtutti\.so\.0" "$layers/log" || { cat "$layers/log"; fail "level $level was not taken"; }
  within mpiexec.mpich -n 2 "$loader" --glibc-hwcaps-mask "$level" /srv/cxx/client
done

# The programs and their data; a program that calls MPI only.
within man -w tutti >/dev/null 2>&1 || [ -s "$root/usr/share/man/man1/tutti.1" ] || fail "no manual page"
within tutti topo --json >/dev/null
if [ -x "$root/usr/bin/tutti-dlrm" ]; then
  within mpiexec.mpich -n 2 tutti-dlrm --preset adult --num-batches 10 | grep 'Test after'
else
  echo "the packages are without mini-apps"
fi
within sh -c 'cd /srv && mpif90.mpich -cpp -DPRELOAD_F08 clients/fortran.F90 -o unchanged'
within env LD_DEBUG=libs LD_DEBUG_OUTPUT=/srv/loaded mpiexec.mpich -n 2 tutti run --report -- /srv/unchanged 2>&1 |
  tee "$layers/log" | grep 'collective calls'
grep -Eq 'tutti-mpi: ([1-9][0-9]*) of \1 collective calls' "$layers/log" || { cat "$layers/log"; fail "the preload"; }
best=$(printf '%s\n' $levels | sort | tail -n 1)
grep -qs "calling init: .*${best:-$folder}/libtutti-mpi.so" "$root"/srv/loaded.* || fail "tutti run loads another level than $best"

within dpkg --purge tutti-bin tutti-mpi libtutti-dev libtutti0 >/dev/null
left=$(within find /usr /etc /var/lib/dpkg/info -name '*tutti*' -newer /srv/packages)
[ -z "$left" ] || fail "left behind: $left"
echo "the packages work, for level ${best:-none} and below"
