# SPDX-License-Identifier: BSD-3-Clause
# The recipe of this checkout; spack/upstream.py makes that of a release.

import os
from pathlib import Path

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *

_checkout = Path(os.path.realpath(__file__)).parents[5].as_uri()


# Of its own, not a variant of tutti: one library serves any number of Pythons, and needs none.
class PyTutti(PythonPackage):
    """MPI-native collectives and building blocks of data- and model-parallel training, on arrays
    of NumPy, PyTorch, CuPy and JAX."""

    homepage = _checkout
    git = _checkout

    tags = ["hpc", "mpi"]

    build_directory = join_path("bindings", "python")
    import_modules = ["tutti"]

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("torch", default=False, description="Build the backend of torch.distributed")

    depends_on("c", type="build")
    depends_on("cxx", type="build")

    depends_on("cmake@3.24:", type="build")
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("py-nanobind@2.2:", type="build")
    depends_on("python@3.9:", type=("build", "link", "run"))

    depends_on("tutti+shared")
    depends_on("tutti@main", when="@main")
    depends_on("mpi@3.1:")
    depends_on("py-torch", type=("build", "link", "run"), when="+torch")
