# SPDX-License-Identifier: BSD-3-Clause
"""Recipe of Tutti, kept with its sources. Use it by `spack repo add <checkout>/spack/spack_repo/tutti`."""

import os
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *

_checkout = Path(os.path.realpath(__file__)).parents[5]


class Tutti(CMakePackage, CudaPackage):
    """MPI-native collectives and building blocks of data- and model-parallel training for programs in C, Fortran
    and C++: one call for host and device memory, over shared memory, MPI and NCCL."""

    git = _checkout.as_uri()

    license("BSD-3-Clause", checked_by="The Tutti developers")
    tags = ["hpc", "mpi"]

    version("main", branch="main")

    variant("shared", default=True, description="Build a shared library")
    variant("fortran", default=True, description="Fortran module tutti")
    variant("miniapps", default=True, description="Mini-apps (DLRM training)")
    variant("onednn", default=True, description="Mini-apps with matrix products by oneDNN, bf16 too", when="+miniapps")
    variant("tools", default=True, description="Command tutti (topology, explanations, tuning)")
    variant("openmp", default=False, description="Kokkos with its OpenMP space")
    variant("nccl", default=False, description="Device collectives through NCCL", when="+cuda")
    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("python@3.9:", type="build", when="+fortran")
    depends_on("python@3.9:", type="run", when="+tools")
    depends_on("cmake@3.24:", type="build")
    depends_on("pkgconfig", type="test")

    depends_on("mpi@3.1:")
    depends_on("hwloc@2:")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.10:")
    depends_on("zlib-api")
    depends_on("libsodium@1")
    depends_on("kokkos@3.4:5")
    depends_on("kokkos+openmp", when="+openmp")

    depends_on("cli11@2:", when="+tools")
    with when("+miniapps"):
        depends_on("cli11@2:")
        depends_on("blas")
    depends_on("onednn@2.6:3", when="+onednn")

    with when("+tests"):
        depends_on("googletest@1.12:+gmock")

    # Kokkos launches the kernels on the device; only nvcc reads its headers then.
    with when("+cuda"):
        depends_on("cuda@12:")
        depends_on("kokkos@4.7.01:", when="^cuda@13.0")
        depends_on("kokkos@4.7.03:4.7,5.0.2:", when="^cuda@13.1:")
        conflicts("cuda_arch=none", msg="name the device architecture: cuda_arch=90")
    depends_on("nccl@2.18:", when="+nccl")
    for _arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos+cuda cuda_arch={_arch}", when=f"+cuda cuda_arch={_arch}")
        depends_on(f"nccl cuda_arch={_arch}", when=f"+nccl cuda_arch={_arch}")

    requires("%cxx=gcc@11:", "%cxx=clang@15:", "%cxx=apple-clang@15:", policy="any_of", msg="Tutti is C++20")

    sanity_check_is_file = ["include/tutti/tutti.hpp", "include/tutti/tutti.h"]

    def cmake_args(self):
        spec = self.spec
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("TUTTI_ENABLE_FORTRAN", "fortran"),
            self.define_from_variant("TUTTI_ENABLE_MINIAPPS", "miniapps"),
            self.define_from_variant("TUTTI_ENABLE_TOOLS", "tools"),
            self.define_from_variant("TUTTI_ENABLE_CUDA", "cuda"),
            self.define("TUTTI_ENABLE_NCCL", spec.satisfies("+nccl")),
            self.define_from_variant("TUTTI_ENABLE_TESTS", "tests"),
            self.define("TUTTI_ENABLE_ONEDNN", spec.satisfies("+onednn")),
            self.define("TUTTI_ENABLE_BENCHMARKS", False),
            # The compiler wrapper sets the target's architecture.
            self.define("TUTTI_ENABLE_NATIVE_ARCH", False),
            self.define("MPI_C_COMPILER", spec["mpi"].mpicc),
            self.define("MPI_CXX_COMPILER", spec["mpi"].mpicxx),
        ]
        if spec.satisfies("+fortran"):
            args.append(self.define("MPI_Fortran_COMPILER", spec["mpi"].mpifc))
        if spec.satisfies("+cuda"):
            args.append(self.define("CUDAToolkit_ROOT", spec["cuda"].prefix))
            args.append(self.define("CMAKE_CUDA_COMPILER", spec["cuda"].prefix.bin.nvcc))
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(spec.variants["cuda_arch"].value)))
        if spec.satisfies("+nccl"):
            args.append(self.define("NCCL_ROOT", spec["nccl"].prefix))
        return args

    def check(self):
        """The tests but those of the install, which need the installed tree."""
        with working_dir(self.build_directory):
            ctest("--output-on-failure", "-LE", "install")

    @run_after("install")
    def cache_clients(self):
        cache_extra_test_sources(self, "tests/install")

    def _client(self, language):
        """Builds and runs one client of the installed library by find_package."""
        source = join_path(self.test_suite.current_test_cache_dir, "tests", "install", language)
        cmake = which(self.spec["cmake"].prefix.bin.cmake, required=True)
        launcher = which("mpiexec", "mpirun", path=[self.spec["mpi"].prefix.bin], required=True)
        with working_dir(f"build-{language}", create=True):
            cmake(source, self.define("CMAKE_PREFIX_PATH", self.prefix))
            cmake("--build", ".")
            output = launcher("-n", "2", "./client", output=str.split, error=str.split)
            assert "sum of ranks 1" in output, output

    def test_cxx(self):
        """A C++ client of the installed library runs on two ranks."""
        self._client("cxx")

    def test_c(self):
        """A C client of the installed library runs on two ranks."""
        self._client("c")

    def test_fortran(self):
        """A Fortran client of the installed library runs on two ranks."""
        if not self.spec.satisfies("+fortran"):
            raise SkipTest("built without Fortran")
        self._client("fortran")
