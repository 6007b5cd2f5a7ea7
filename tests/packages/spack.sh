#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# spack.sh SPACK [audit|spec|install|test [VARIANTS]]: runs the recipes of this checkout and those for upstream with the
# Spack of that folder, with Debian's packages as externals. Each includes the one before it:
#   audit    Spack's audit of both
#   spec     what several variants concretize to, and the CMake phase of some, for a clone of this checkout and for the
#            archive of a release; unless another is named
#   install  one variant is installed from the clone, and tried: Spack's stand-alone tests, `spack load`, a dependent;
#            then it is installed from the archive
#   test     the same, with Tutti's own tests (spack install --test=root)
# SPACK_PYTHON names a Python that has clingo. All that is written lies in a temporary folder, of TMPDIR if it is set.
# Ends with 77 where there is no Spack or no clingo.
set -euo pipefail
skip() { echo "SKIPPED: $*" >&2; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }
[ -x "${1:-}/bin/spack" ] || skip "no Spack in the folder '${1:-}'"
spack=$(realpath "$1")/bin/spack
export SPACK_PYTHON=${SPACK_PYTHON:-$(command -v python3)}
"$SPACK_PYTHON" -c 'import clingo' 2>/dev/null || skip "$SPACK_PYTHON has no clingo"
version=$("$spack" --version)
[ "${version%%.*}" -ge 1 ] || skip "the recipes are for Spack 1.0 and later, and this is $version"
command -v dpkg-query >/dev/null || skip "the externals are Debian's packages"

sources=$(realpath "$(dirname "$0")/../..")
until=${2:-spec}
variants=${3:-~fortran~preload~miniapps}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SPACK_USER_CONFIG_PATH=$work/config SPACK_USER_CACHE_PATH=${SPACK_USER_CACHE_PATH:-$work/cache} SPACK_SYSTEM_CONFIG_PATH=$work/system
mkdir "$work/config"
run() { "$spack" "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; fail "spack $*"; }; }
passed() { printf '%(%H:%M:%S)T %s\n' -1 "$*"; }

# The recipes take their sources from branch main of the checkout that they lie in.
git clone -q --no-hardlinks "$sources" "$work/tutti"
git -C "$work/tutti" checkout -q -B main
recipes=$work/tutti/spack/spack_repo/tutti
cp -r "$sources/spack/spack_repo/tutti/packages" "$recipes"
cp -r "$sources/tests/packages/dependent" "$work/tutti/tests/packages"

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
  for name in tutti tutti-client compiler-wrapper gcc-runtime; do
    echo "  $name: {buildable: true}"
  done
  echo '  all: {buildable: false, providers: {mpi: [mpich], blas: [openblas], zlib-api: [zlib], pkgconfig: [pkgconf]}}'
} >"$work/config/packages.yaml"
cat >"$work/config/config.yaml" <<YAML
config:
  install_tree: {root: $work/opt}
  build_stage: $work/stage
  source_cache: $work/sources
  build_jobs: ${TUTTI_JOBS:-1}
  ccache: $(command -v ccache >/dev/null && echo true || echo false)
YAML
echo 'concretizer: {static_analysis: true}' >"$work/config/concretizer.yaml"

run compiler find
run external find --not-buildable cmake gmake pkgconf python
run repo add "$recipes"
run repo add "$work/tutti/tests/packages/dependent/spack_repo/dependent"
run audit packages tutti py-tutti
passed "audited: the recipes of this checkout"

# The recipes for upstream, with a release's archive that is made of the last commit.
release=$(sed -n 's/^project(tutti VERSION \([0-9.]*\).*/\1/p' "$sources/CMakeLists.txt")
archive=$work/tutti-$release.tar.gz
upstream=$work/upstream/spack_repo/upstream
cmake -D GIT=git -D PYTHON=python3 -D SOURCE="$work/tutti" -D NAME="tutti-$release" -D OUTPUT="$work" \
  -P "$work/tutti/src/cmake/dist.cmake"
mkdir -p "$upstream/packages"
printf 'repo:\n  namespace: upstream\n  api: v2.2\n' >"$upstream/repo.yaml"
"$sources/spack/upstream.py" "$upstream/packages" --archive "$archive" --url "file://$archive" \
  --homepage "file://$work" --git "file://$work/tutti" --maintainers nobody >/dev/null
use() { # REPOSITORY
  "$spack" repo remove tutti >/dev/null 2>&1 || true
  "$spack" repo remove upstream >/dev/null 2>&1 || true
  run repo add "$1"
}
use "$upstream"
run audit packages tutti py-tutti
passed "audited: the recipes for upstream"
[ "$until" != audit ] || exit 0

# SPEC PACKAGE... -PACKAGE...: these are among its dependencies, those are not.
spec() {
  local name
  run "${settings[@]}" spec "$1"
  for name in "${@:2}"; do
    if grep -q "\^${name#-}@" "$work/log"; then
      [ "$name" = "${name#-}" ] || fail "$1 depends on ${name#-}"
    else
      [ "$name" != "${name#-}" ] || { cat "$work/log"; fail "$1 does not depend on $name"; }
    fi
  done
  passed "concretizes: $1"
}
refused() { # SPEC WORDS
  ! "$spack" "${settings[@]}" spec "$1" >"$work/log" 2>&1 || fail "concretizes: $1"
  grep -q "$2" "$work/log" || { cat "$work/log"; fail "$1 is refused without '$2'"; }
  passed "refused: $1"
}
# SPEC NAME=VALUE...: the recipe's arguments to CMake, where the CMake phase would first have to build what is missing.
cat >"$work/arguments.py" <<'PY'
import sys, types
import spack.concretize
spec = spack.concretize.concretize_one(sys.argv[1])
for name in ("mpi", "hip"):
    spec[name].package.setup_dependent_package(types.ModuleType("build"), spec)
print(*spec.package.cmake_args(), sep="\n")
PY
arguments() {
  local wanted
  run "${settings[@]}" python "$work/arguments.py" "$1"
  for wanted in "${@:2}"; do
    grep -qE "^-D${wanted%%=*}:[A-Z]+=${wanted#*=}\$" "$work/log" ||
      { cat "$work/log"; fail "$1 is built without $wanted"; }
  done
  passed "arguments: $1"
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
  passed "configures: $1 ($(($# - 1)) entries of the cache)"
}

settings=()
always=(TUTTI_ENABLE_NATIVE_ARCH=OFF TUTTI_ENABLE_BENCHMARKS=OFF TUTTI_ENABLE_HIP=OFF TUTTI_ENABLE_NCCL=OFF
  TUTTI_ENABLE_TESTS=OFF TUTTI_MPI_IS_OPEN_MPI= "MPI_C_COMPILER=$work/mpich/bin/mpicc"
  "MPI_CXX_COMPILER=$work/mpich/bin/mpi(cxx|c[+][+])")
none='~fortran~preload~miniapps~tools'
configure "tutti@$release" "${always[@]}" BUILD_SHARED_LIBS=ON
use "$recipes"
configure 'tutti@main' "${always[@]}" BUILD_SHARED_LIBS=ON TUTTI_ENABLE_FORTRAN=ON TUTTI_ENABLE_PRELOAD=ON \
  TUTTI_ENABLE_MINIAPPS=ON TUTTI_ENABLE_TOOLS=ON TUTTI_ENABLE_ONEDNN=ON TUTTI_ENABLE_CUDA=OFF \
  "MPI_Fortran_COMPILER=$work/mpich/bin/mpif90"
configure "tutti@main~shared$none" "${always[@]}" BUILD_SHARED_LIBS=OFF TUTTI_ENABLE_FORTRAN=OFF \
  TUTTI_ENABLE_PRELOAD=OFF TUTTI_ENABLE_MINIAPPS=OFF TUTTI_ENABLE_TOOLS=OFF TUTTI_ENABLE_ONEDNN=OFF \
  TUTTI_ENABLE_CUDA=OFF
spec tutti mpich hwloc fmt nlohmann-json zlib libsodium kokkos cli11 openblas onednn -googletest -cuda -hip
spec 'tutti~onednn' openblas -onednn
spec 'tutti~miniapps' cli11 -openblas -onednn
spec 'tutti~fortran~miniapps~tools' kokkos -cli11 -openblas -onednn
has_cuda=$(grep -c '^  cuda:' "$work/config/packages.yaml" || true)
if [ "$has_cuda" = 1 ]; then
  refused 'tutti+cuda' 'name the device architecture'
  spec 'tutti+cuda cuda_arch=90' cuda kokkos -kokkos-nvcc-wrapper -nccl
  configure "tutti@main+cuda$none cuda_arch=90" "${always[@]}" TUTTI_ENABLE_CUDA=ON CMAKE_CUDA_ARCHITECTURES=90
else
  passed 'no CUDA toolkit here: its variants are not tried'
fi

# What Debian lacks would be built by Spack.
settings=(-c packages:all:buildable:true -c packages:kokkos:buildable:true)
spec py-tutti tutti py-nanobind
spec 'tutti+rocm amdgpu_target=gfx90a' hip kokkos hipcub -rccl -cuda
arguments 'tutti+rocm+rccl amdgpu_target=gfx90a' TUTTI_ENABLE_HIP=ON TUTTI_ENABLE_NCCL=ON TUTTI_ENABLE_CUDA=OFF \
  CMAKE_HIP_ARCHITECTURES=gfx90a 'CMAKE_CXX_COMPILER=.*/hip-[^/]*/bin/hipcc' 'RCCL_ROOT=.*/rccl-[^/]*'
refused 'tutti+rocm' 'name the device architecture'
refused 'tutti+cuda+rocm cuda_arch=90 amdgpu_target=gfx90a' 'one vendor'
refused 'tutti+nccl~cuda' 'conflicting variant values'
refused 'tutti+rccl~rocm' 'conflicting variant values'
[ "$has_cuda" = 0 ] || spec 'tutti+cuda+nccl cuda_arch=90' cuda nccl
settings=()
[ "$until" != spec ] || exit 0

rm -rf "$work/stage"
own=()
[ "$until" != test ] || own=(--test=root)
run install "${own[@]}" "tutti@main$variants"
passed "installed: tutti@main$variants ${own[*]}, $(du -sh "$("$spack" location -i tutti)" | cut -f1)"
run test run tutti
"$spack" test results --logs >"$work/log"
grep -q '4 passed of 4 parts\|3 passed, 1 skipped of 4 parts' "$work/log" ||
  { cat "$work/log"; fail 'stand-alone tests'; }
passed "stand-alone tests: $(grep -o '[^=]* parts' "$work/log")"

# Two ranks of a client.
ranks() { "$work/mpich/bin/mpiexec" -n 2 "$@" | grep 'sum of ranks 1' >/dev/null || fail "no sum of ranks: $*"; }
run install "tutti-client ^tutti@main$variants"
for client in by_cmake by_pkg_config; do
  ranks "$("$spack" location -i tutti-client)/bin/$client"
done
passed 'a dependent of Spack, by CMake and by pkg-config'
(
  eval "$("$spack" load --sh tutti)"
  read -ra flags <<<"$(pkg-config --cflags --libs tutti) $(pkg-config --variable=rpath tutti)"
  cc "$sources/tests/install/c/main.c" -o "$work/loaded" "${flags[@]}"
  ranks "$work/loaded"
  cmake -S "$sources/tests/install/cxx" -B "$work/loaded-cxx" >"$work/log"
  cmake --build "$work/loaded-cxx" >"$work/log"
  ranks "$work/loaded-cxx/client"
  ! command -v tutti || tutti info | grep '^ *library'
)
passed 'programs outside Spack after spack load, by pkg-config and by CMake'

run uninstall --all --yes-to-all tutti-client tutti
use "$upstream"
run install "tutti@$release$variants"
passed "installed from the archive of a release: tutti@$release$variants"
