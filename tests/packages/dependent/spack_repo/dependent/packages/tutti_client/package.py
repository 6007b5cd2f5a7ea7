# SPDX-License-Identifier: BSD-3-Clause
"""A package that depends on tutti, as others' recipes do: its C++ program finds it by CMake, its C
program by pkg-config. Neither names a path: Spack's environment of the build does."""

import os
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *

_checkout = Path(os.path.realpath(__file__)).parents[7].as_uri()


class TuttiClient(CMakePackage):
    """Two clients of Tutti."""

    homepage = _checkout
    git = _checkout

    root_cmakelists_dir = join_path("tests", "install", "cxx")

    license("BSD-3-Clause")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")

    depends_on("cmake@3.24:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("tutti")

    def install(self, spec, prefix):
        mkdirp(prefix.bin)
        install(join_path(self.build_directory, "client"), prefix.bin.by_cmake)
        flags = which("pkg-config", required=True)("--cflags", "--libs", "tutti", output=str)
        source = join_path(self.stage.source_path, "tests", "install", "c", "main.c")
        Executable(spack_cc)(source, "-o", prefix.bin.by_pkg_config, *flags.split())
