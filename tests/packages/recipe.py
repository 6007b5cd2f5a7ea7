# SPDX-License-Identifier: BSD-3-Clause
"""The Spack recipes of this checkout and those made of them for a release: recipe.py SOURCES FOLDER. They differ in what
says where the sources are, in nothing else, and both are as Spack's package repository wants them; so is the dependent of
spack.sh. Ends with 77 where there is no ruff for the last."""
import ast
import difflib
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = re.compile(r"# (SPDX|The recipe of|Copyright)|#$|(import os|from pathlib|_checkout) ?|"
                    r"    (homepage|url|git) = |    maintainers\(|    version\(|    depends_on\(\"tutti@|$")
# As the settings of spack-packages; names of Spack's come by a star.
RUFF = ["--isolated", "--line-length", "99"]
RULES = ["--select", "E,F,I,W", "--ignore", "E731,F403,F405,F811"]
ORDER = ["--config", 'lint.isort.section-order = ["future", "standard-library", "third-party", "spack", "first-party", '
         '"local-folder"]', "--config", "lint.isort.split-on-trailing-comma = false",
         "--config", 'lint.isort.sections = {spack = ["spack"]}']


def differences(here, there):
    lines = difflib.ndiff(here.read_text().splitlines(), there.read_text().splitlines())
    return [line for line in lines if line[0] in "+-" and not SOURCE.match(line[2:])]


def main():
    sources, folder = Path(sys.argv[1]), Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = folder / "tutti-7.8.9.tar.gz"
    archive.write_bytes(b"a release")
    subprocess.run([sys.executable, "-B", sources / "spack" / "upstream.py", folder, "--archive", archive, "--url",
                    "https://example.org/tutti-7.8.9.tar.gz", "--homepage", "https://example.org", "--git",
                    "https://example.org/tutti.git", "--maintainers", "one", "another"], check=True)
    recipes = sorted((sources / "spack" / "spack_repo" / "tutti" / "packages").glob("*/package.py"))
    assert len(recipes) == 2, recipes
    files = list((sources / "tests" / "packages" / "dependent").rglob("package.py"))
    assert len(files) == 1, files
    for recipe in recipes:
        made = folder / recipe.parent.name / "package.py"
        ast.parse(made.read_text())
        assert not differences(recipe, made), differences(recipe, made)
        release = f'    version("7.8.9", sha256="{hashlib.sha256(b"a release").hexdigest()}")\n'
        assert release in made.read_text() and "_checkout" not in made.read_text(), made
        files += [recipe, made]
    ruff = shutil.which("ruff")
    if ruff is None:
        print("SKIPPED: no ruff here; the recipes' style was not looked at")
        return 77
    subprocess.run([ruff, "check", "--no-cache", *RUFF, *RULES, *ORDER, *files], check=True)
    subprocess.run([ruff, "format", "--check", "--no-cache", *RUFF, *files], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
