#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# spack.sh SPACK [audit]: runs the recipes with the Spack of that folder, with Debian's packages as externals: Spack's
# audit and, unless that alone is asked for, what several variants concretize to, and the CMake phase of some for a clone
# of this checkout. SPACK_PYTHON names a Python that has clingo. All that is written lies in a temporary folder.
# Ends with 77 where there is no Spack or no clingo.
set -euo pipefail
skip() { echo "SKIPPED: $*" >&2; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }
[ -x "${1:-}/bin/spack" ] || skip "no Spack in the folder '${1:-}'"
spack=$(realpath "$1")/bin/spack
export SPACK_PYTHON=${SPACK_PYTHON:-$(command -v python3)}
"$SPACK_PYTHON" -c 'import clingo' 2>/dev/null || skip "$SPACK_PYTHON has no clingo"
release=$("$spack" --version)
[ "${release%%.*}" -ge 1 ] || skip "the recipes are for Spack 1.0 and later, and this is $release"
command -v dpkg-query >/dev/null || skip "the externals are Debian's packages"

sources=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SPACK_USER_CONFIG_PATH=$work/config SPACK_USER_CACHE_PATH=${SPACK_USER_CACHE_PATH:-$work/cache} SPACK_SYSTEM_CONFIG_PATH=$work/system
mkdir "$work/config"
run() { "$spack" "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; fail "spack $*"; }; }

# The recipes take their sources from branch main of the checkout that they lie in.
git clone -q --no-hardlinks "$sources" "$work/tutti"
git -C "$work/tutti" checkout -q -B main
recipes=$work/tutti/spack/spack_repo/tutti
cp -r "$sources/spack/spack_repo/tutti/packages" "$recipes"

# /usr/bin/mpicc is the choice of update-alternatives, and may be another MPI's.
command -v mpicc.mpich >/dev/null || skip "mpich is not installed"
mkdir -p "$work/mpich/bin"
for name in mpicc mpicxx mpif77 mpif90 mpiexec; do
  ln -s "$(command -v $name.mpich)" "$work/mpich/bin/$name"
done
ln -s "$(command -v hydra_pmi_proxy)" "$work/mpich/bin"  # which mpiexec starts, and seeks beside itself

prefix=/usr
external() { # NAME DEBIAN-PACKAGE [VERSION]
  local version
  version=${3-$(dpkg-query -W -f '${source:Upstream-Version}' "$2" 2>/dev/null | sed 's/[+.]\(ds\|dfsg\).*//' || true)}
  [ -n "$version" ] || skip "$2 is not installed"
  printf '  %s: {buildable: false, externals: [{spec: %s@%s, prefix: %s}]}\n' "$1" "$1" "$version" "$prefix"
}
kokkos() { # 30401 is 3.4.01
  local header
  header=$(dpkg -L libtrilinos-kokkos-dev 2>/dev/null | grep '/KokkosCore_config.h$' || true)
  [ -z "$header" ] || sed -n 's/^#define KOKKOS_VERSION *\(.*\)\(..\)\(..\)$/\1.\2.\3/p' "$header" | sed 's/\.0/./'
}
{
  echo 'packages:'
  external hwloc libhwloc-dev
  external fmt libfmt-dev
  external nlohmann-json nlohmann-json3-dev
  external zlib zlib1g-dev
  external libsodium libsodium-dev
  external cli11 libcli11-dev
  external openblas libopenblas-pthread-dev
  external onednn libdnnl-dev
  external googletest googletest
  prefix=$work/mpich external mpich libmpich-dev
  # Spack gives an external the defaults of its variants.
  external kokkos libtrilinos-kokkos-dev "$(kokkos)+serial"
  cuda=${CUDA_HOME:-/usr/local/cuda}
  [ ! -x "$cuda/bin/nvcc" ] || printf '  cuda: {buildable: false, externals: [{spec: cuda@%s, prefix: %s}]}\n' \
    "$("$cuda/bin/nvcc" --version | sed -n 's/.*release .*, V//p')" "$cuda"
  echo '  all: {providers: {mpi: [mpich], blas: [openblas], zlib-api: [zlib], pkgconfig: [pkgconf]}}'
} >"$work/config/packages.yaml"
cat >"$work/config/config.yaml" <<YAML
config:
  install_tree: {root: $work/opt}
  build_stage: $work/stage
  source_cache: $work/sources
  build_jobs: 1
YAML

run compiler find
run external find --not-buildable cmake gmake pkgconf python
run repo add "$recipes"
run audit packages tutti py-tutti
echo "audited"
[ "${2:-}" != audit ] || exit 0

# SPEC PACKAGE... -PACKAGE...: these are among its dependencies, those are not.
spec() {
  local name
  run spec "$1"
  for name in "${@:2}"; do
    if grep -q "\^${name#-}@" "$work/log"; then
      [ "$name" = "${name#-}" ] || fail "$1 depends on ${name#-}"
    else
      [ "$name" != "${name#-}" ] || { cat "$work/log"; fail "$1 does not depend on $name"; }
    fi
  done
  echo "concretizes: $1"
}
refused() { # SPEC WORDS
  ! "$spack" spec "$1" >"$work/log" 2>&1 || fail "concretizes: $1"
  grep -q "$2" "$work/log" || { cat "$work/log"; fail "$1 is refused without '$2'"; }
  echo "refused: $1"
}
# SPEC NAME=VALUE...: the CMake phase ends with these in its cache.
configure() {
  local cache wanted
  rm -rf "$work/stage"
  run install --keep-stage --until cmake "$1"
  cache=$(find "$work/stage" -name CMakeCache.txt -path '*tutti*' -not -path '*/CMakeFiles/*' | head -n 1)
  [ -n "$cache" ] || fail "no CMakeCache.txt of $1"
  for wanted in "${@:2}"; do
    grep -qE "^${wanted%%=*}:[A-Z]+=${wanted#*=}\$" "$cache" || {
      grep "^${wanted%%=*}:" "$cache" || true
      fail "$1 configures without $wanted"
    }
  done
  echo "configures: $1 ($(($# - 1)) entries of the cache)"
}

spec tutti mpich hwloc fmt nlohmann-json zlib libsodium kokkos cli11 openblas onednn -googletest -cuda
spec 'tutti~onednn' openblas -onednn
spec 'tutti~miniapps' cli11 -openblas -onednn
spec 'tutti~fortran~miniapps~tools' kokkos -cli11 -openblas -onednn
spec py-tutti tutti py-nanobind
refused 'tutti+nccl~cuda' nccl
always="TUTTI_ENABLE_NATIVE_ARCH=OFF TUTTI_ENABLE_BENCHMARKS=OFF TUTTI_ENABLE_CUDA=OFF TUTTI_ENABLE_NCCL=OFF
  TUTTI_ENABLE_TESTS=OFF TUTTI_MPI_IS_OPEN_MPI= MPI_C_COMPILER=$work/mpich/bin/mpicc
  MPI_CXX_COMPILER=$work/mpich/bin/mpi(cxx|c[+][+])"
configure 'tutti@main' $always BUILD_SHARED_LIBS=ON TUTTI_ENABLE_FORTRAN=ON TUTTI_ENABLE_PRELOAD=ON \
  TUTTI_ENABLE_MINIAPPS=ON TUTTI_ENABLE_TOOLS=ON TUTTI_ENABLE_ONEDNN=ON "MPI_Fortran_COMPILER=$work/mpich/bin/mpif90"
configure 'tutti@main~shared~fortran~preload~miniapps~tools' $always BUILD_SHARED_LIBS=OFF TUTTI_ENABLE_FORTRAN=OFF \
  TUTTI_ENABLE_PRELOAD=OFF TUTTI_ENABLE_MINIAPPS=OFF TUTTI_ENABLE_TOOLS=OFF TUTTI_ENABLE_ONEDNN=OFF
if grep -q '^  cuda:' "$work/config/packages.yaml"; then
  refused 'tutti+cuda' 'name the device architecture'
  spec 'tutti+cuda cuda_arch=90' cuda kokkos -kokkos-nvcc-wrapper -nccl
  spec 'tutti+cuda+nccl cuda_arch=90' cuda nccl
else
  echo 'no CUDA toolkit here: its variants are not tried'
fi
