# SPDX-License-Identifier: BSD-3-Clause
"""python -m tutti.torch.build: compiles the process group for this Python and its PyTorch.

For a package that was installed where PyTorch was not, or after PyTorch has been replaced by another version.
"""

import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile


def _package() -> pathlib.Path:
    return pathlib.Path(__file__).resolve().parent.parent


def _sources() -> pathlib.Path:
    here = pathlib.Path(__file__).resolve().parent
    for folder in (here / "native", _package().parent / "torch"):
        if (folder / "CMakeLists.txt").exists():
            return folder
    sys.exit("tutti.torch.build: this package has no sources of the process group; install it again by pip")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tutti.torch.build", description=__doc__.split("\n")[0])
    parser.add_argument("--tutti", help="folder of the library, built or installed (CMAKE_PREFIX_PATH otherwise)")
    parser.add_argument("--into", type=pathlib.Path, help="folder of the package that gets the module")
    arguments = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        sys.exit(f"tutti.torch.build: {sys.executable} has no PyTorch; install it first (pip install torch)")
    into = arguments.into or pathlib.Path(os.path.dirname(os.path.abspath(__file__))).parent
    with tempfile.TemporaryDirectory() as build:
        configure = ["cmake", "-S", str(_sources()), "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                     f"-DPython_EXECUTABLE={sys.executable}", "-DTUTTI_TORCH_DESTINATION=."]
        if arguments.tutti:
            configure.append(f"-DCMAKE_PREFIX_PATH={os.path.abspath(arguments.tutti)}")
        for command in (configure, ["cmake", "--build", build], ["cmake", "--install", build, "--prefix", str(into)]):
            if subprocess.run(command, check=False).returncode != 0:
                sys.exit(f"tutti.torch.build: failed: {' '.join(command)}")
    print(f"tutti.torch.build: built tutti._torch into {into}")


if __name__ == "__main__":
    main()
