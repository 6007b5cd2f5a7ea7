# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the tree, its build folder, and the tests in it."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from session import end_session  # noqa: E402

# Rows take turns at the same sources: little optimisation, and a cache of its own for sources that are good again.
OPTIONS = ["-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG",
           "-DTUTTI_ENABLE_BENCHMARKS=OFF"]


def has(program):
    return shutil.which(program) is not None


class Test:
    def __init__(self, shown):
        values = {prop["name"]: prop["value"] for prop in shown.get("properties", [])}
        self.name, self.command = shown["name"], shown.get("command", [])
        self.folder = values.get("WORKING_DIRECTORY")
        self.limit = float(values.get("TIMEOUT", 120))
        self.skip = values.get("SKIP_RETURN_CODE")
        self.environment = dict(entry.split("=", 1) for entry in values.get("ENVIRONMENT", []))
        if self.name.startswith("unit."):  # a rank that ended at its first failure would keep the others waiting
            self.environment["GTEST_FAIL_FAST"] = "1"

    def run(self, limit):
        """'passed', 'skipped', 'failed' or 'timed out', and seconds."""
        start = time.monotonic()
        process = subprocess.Popen(self.command, cwd=self.folder, env=os.environ | self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            process.terminate()
            code = None
        finally:
            end_session(process.pid)
            process.wait()
        end = {None: "timed out", 0: "passed", self.skip: "skipped"}.get(code, "failed")
        return end, time.monotonic() - start


class Copy:
    def __init__(self, root, folder, jobs):
        self.root, self.tree, self.build, self.jobs = root, folder / "tree", folder / "build", jobs
        self.environment = os.environ | {"CCACHE_DIR": str(folder / "ccache")}
        for name in ("CCACHE_DISABLE", "CCACHE_BASEDIR", "CCACHE_NOHASHDIR"):
            self.environment.pop(name, None)
        self.tree.mkdir(parents=True, exist_ok=True)
        names = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout.decode()
        for name in filter(None, names.split("\0")):
            self.take(name)
        self.configure()
        shown = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], check=True,
                               capture_output=True)
        commands = self.commands()
        self.tests = [Test({"command": commands.get(test["name"], [])} | test)
                      for test in json.loads(shown.stdout)["tests"]]

    def take(self, name):
        """Only if it has changed, so that little is built again."""
        source, target = self.root / name, self.tree / name
        if not source.is_file() or (target.is_file() and source.read_bytes() == target.read_bytes()):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        os.utime(target)

    def configure(self):
        options = list(OPTIONS)
        if has("ccache"):
            options += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        if has("ld.lld"):
            options += ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld", "-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld"]
        done = subprocess.run(["cmake", "--preset", "release", "-B", self.build] + options, cwd=self.tree,
                              capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            sys.exit(f"cmake fails: {done.stderr[-2000:]}")

    def commands(self):
        """Of tests whose program is not built yet: ctest shows none."""
        texts = [path.read_text(encoding="utf-8") for path in self.build.rglob("CTestTestfile.cmake")]
        lines = [match for text in texts for match in re.findall(r"^add_test\((\S+) (.*)\)$", text, re.MULTILINE)]
        return {re.sub(r"^\[=*\[|\]=*\]$", "", name): shlex.split(command) for name, command in lines}

    def chosen(self, regex):
        return [test for test in self.tests if re.search(regex, test.name)]

    def programs(self, tests):
        """What the tests start, or are given, out of the build folder, as targets."""
        words = {word.split("=")[-1] for test in tests for word in test.command}
        own = (word for word in words if word.startswith(f"{self.build}/"))
        return sorted(os.path.relpath(word, self.build) for word in own if os.path.splitext(word)[1] in ("", ".so"))

    def make(self, tests):
        """Empty, or the compiler's last words."""
        programs = self.programs(tests)
        if not programs:
            return "the tests start no program of the build folder"
        done = subprocess.run(["ninja", "-C", self.build, "-j", str(self.jobs)] + programs,
                              capture_output=True, text=True, errors="replace", env=self.environment)
        return "" if done.returncode == 0 else done.stdout[-2000:]

    def spoil(self, mutant):
        """Returns a function that mends the file, or None if the row does not fit."""
        path = self.tree / mutant.path
        good = path.read_text(encoding="utf-8") if path.exists() else ""
        spoilt = mutant.spoil(good)
        if spoilt is None:
            return None
        path.write_text(spoilt, encoding="utf-8")
        return lambda: path.write_text(good, encoding="utf-8")
