# SPDX-License-Identifier: BSD-3-Clause
# The recipe of this checkout; spack/upstream.py makes that of a release.

import os
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *

_checkout = Path(os.path.realpath(__file__)).parents[5].as_uri()


class Tutti(CMakePackage, CudaPackage, ROCmPackage):
    """MPI-native collectives and building blocks of data- and model-parallel training for
    programs in C, Fortran and C++: one call for host and device memory, over shared memory,
    MPI, NCCL and RCCL."""

    homepage = _checkout
    git = _checkout

    tags = ["hpc", "mpi"]

    # The stand-alone tests build clients.
    test_requires_compiler = True

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("shared", default=True, description="Build shared libraries")
    variant("training", default=True, description="Build the training layer into the library")
    variant("fortran", default=True, description="Build the Fortran module tutti")
    variant(
        "preload", default=True, description="Build libtutti-mpi, for programs that call MPI only"
    )
    variant("tools", default=True, description="Build the command tutti")
    variant("miniapps", default=True, description="Build the mini-apps (DLRM, SGD, measurements)")
    variant(
        "onednn",
        default=True,
        when="+miniapps",
        description="Use oneDNN in the mini-apps, for products in bf16 too",
    )
    variant("nccl", default=False, when="+cuda", description="Use NCCL for device memory")
    variant("rccl", default=False, when="+rocm", description="Use RCCL for device memory")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")

    depends_on("cmake@3.24:", type="build")
    # A release has the module's generated part.
    depends_on("python@3.9:", type="build", when="@main+fortran")
    depends_on("python@3.9:", type="build", when="~training+fortran")
    depends_on("python@3.9:", type="run", when="+tools")

    depends_on("mpi@3.1:")
    depends_on("kokkos@3.4:5")
    depends_on("hwloc@2:")
    depends_on("fmt@9:")
    depends_on("libsodium@1")
    depends_on("zlib-api")
    depends_on("nlohmann-json@3.10:", type="build")

    depends_on("cli11@2:", type="build", when="+tools")
    depends_on("cli11@2:", type="build", when="+miniapps")
    depends_on("blas", when="+miniapps")
    depends_on("onednn@2.6:3", when="+onednn")

    depends_on("googletest@1.12:+gmock", type="test")
    depends_on("python@3.9:", type="test")

    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl@2.18:", when="+nccl")
    for _arch in CudaPackage.cuda_arch_values:
        depends_on(f"nccl cuda_arch={_arch}", when=f"+nccl cuda_arch={_arch}")

    # Kokkos compiles the kernels of AMD's devices, for one of them.
    depends_on("kokkos@4:+rocm", when="+rocm")
    depends_on("hipcub+rocm", when="+rocm")
    depends_on("rccl", when="+rccl")
    for _arch in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos amdgpu_target={_arch}", when=f"amdgpu_target={_arch}")
        depends_on(f"hipcub amdgpu_target={_arch}", when=f"amdgpu_target={_arch}")
        depends_on(f"rccl amdgpu_target={_arch}", when=f"+rccl amdgpu_target={_arch}")

    conflicts("%cxx=gcc@:10", msg="Tutti is C++20, which GCC has from 11 on")
    conflicts("%cxx=clang@:14", msg="Tutti is C++20, which Clang has from 15 on")
    conflicts("%cxx=apple-clang@:14", msg="Tutti is C++20, which Apple's Clang has from 15 on")
    conflicts(
        "+shared",
        when="^kokkos~shared~pic",
        msg="libtutti.so cannot be linked with an archive of Kokkos without +pic",
    )
    requires(
        "^[virtuals=blas] openblas",
        "^[virtuals=blas] blis+cblas",
        "^[virtuals=blas] amdblis+cblas",
        policy="one_of",
        when="+miniapps",
        msg="the mini-apps call CBLAS",
    )
    conflicts("+cuda", when="+rocm", msg="one Tutti drives the devices of one vendor")
    conflicts(
        "amdgpu_target=none",
        when="+rocm",
        msg="name the device architecture: amdgpu_target=gfx90a",
    )
    # The kernels need no Kokkos with CUDA; nvcc reads the headers of one that has it.
    with when("+cuda"):
        conflicts("cuda_arch=none", msg="name the device architecture: cuda_arch=90")
        conflicts(
            "^kokkos@:4.7.00+cuda",
            when="^cuda@13.0",
            msg="Kokkos can be compiled by CUDA 13.0 from 4.7.01 on",
        )
        conflicts(
            "^kokkos@:4.7.02,5.0.0:5.0.1+cuda",
            when="^cuda@13.1:",
            msg="Kokkos can be compiled by CUDA 13.1 from 4.7.03 and 5.0.2 on",
        )

    sanity_check_is_file = [
        join_path("include", "tutti", "tutti.hpp"),
        join_path("include", "tutti", "tutti.h"),
    ]

    def cmake_args(self):
        spec = self.spec
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("TUTTI_ENABLE_TRAINING", "training"),
            self.define_from_variant("TUTTI_ENABLE_FORTRAN", "fortran"),
            self.define_from_variant("TUTTI_ENABLE_PRELOAD", "preload"),
            self.define_from_variant("TUTTI_ENABLE_TOOLS", "tools"),
            self.define_from_variant("TUTTI_ENABLE_MINIAPPS", "miniapps"),
            self.define("TUTTI_ENABLE_ONEDNN", spec.satisfies("+onednn")),
            self.define("TUTTI_ZSTD_LIBRARY", ""),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_Parquet", True),
            self.define_from_variant("TUTTI_ENABLE_CUDA", "cuda"),
            self.define_from_variant("TUTTI_ENABLE_HIP", "rocm"),
            self.define("TUTTI_ENABLE_NCCL", spec.satisfies("+nccl") or spec.satisfies("+rccl")),
            self.define("TUTTI_ENABLE_TESTS", self.run_tests),
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
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", spec.variants["cuda_arch"].value))
        if spec.satisfies("+nccl"):
            args.append(self.define("NCCL_ROOT", spec["nccl"].prefix))
        if spec.satisfies("+rocm"):
            args.append(self.define("CMAKE_CXX_COMPILER", self._cxx()))
            targets = spec.variants["amdgpu_target"].value
            args.append(self.define("CMAKE_HIP_ARCHITECTURES", targets))
        if spec.satisfies("+rccl"):
            args.append(self.define("RCCL_ROOT", spec["rccl"].prefix))
        return args

    def _cxx(self):
        """The compiler of C++; for Kokkos, that is the one of HIP, too."""
        return self.spec["hip"].hipcc if self.spec.satisfies("+rocm") else self.compiler.cxx

    def check(self):
        """The tests but those of the install, which need the installed tree."""
        with working_dir(self.build_directory):
            ctest("--output-on-failure", "-LE", "install", "-j", str(make_jobs))

    @run_after("install")
    def cache_clients(self):
        cache_extra_test_sources(self, join_path("tests", "install"))

    def _client(self, language):
        """Builds and runs one client of the installed library by find_package."""
        source = join_path(self.test_suite.current_test_cache_dir, "tests", "install", language)
        cmake = which(self.spec["cmake"].prefix.bin.cmake, required=True)
        launcher = which("mpiexec", "mpirun", path=[self.spec["mpi"].prefix.bin])
        # As the library was built, whatever the PATH has.
        compilers = [
            self.define("CMAKE_C_COMPILER", self.compiler.cc),
            self.define("CMAKE_CXX_COMPILER", self._cxx()),
        ]
        if self.spec.satisfies("+fortran"):
            compilers.append(self.define("CMAKE_Fortran_COMPILER", self.compiler.fc))
        with working_dir(f"build-{language}", create=True):
            cmake(source, self.define("CMAKE_PREFIX_PATH", self.prefix), *compilers)
            cmake("--build", ".")
            if launcher is None:
                raise SkipTest("the client was built; this MPI has no mpiexec to run it")
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
        if self.spec.satisfies("~fortran"):
            raise SkipTest("built without Fortran")
        self._client("fortran")

    def test_kokkos(self):
        """A client of the installed library and its Kokkos runs on two ranks."""
        self._client("kokkos")
