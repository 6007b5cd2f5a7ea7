#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the recipes as spack-packages takes them, with the sources of a release in the place of this checkout's:

    cmake --build build/release --target dist
    spack/upstream.py <spack-packages>/repos/spack_repo/builtin/packages --archive build/release/tutti-<version>.tar.gz \\
      --url <its address> --homepage <address> --git <address> --maintainers <name at GitHub>...
"""
import argparse
import hashlib
import re
from pathlib import Path

RECIPES = Path(__file__).parent / "spack_repo" / "tutti" / "packages"
HEAD = """# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)
"""


def replaced(pattern, by, text):
    text, count = re.subn(pattern, lambda _: by, text, flags=re.M)
    if count != 1:
        raise SystemExit(f"the recipe has {count} places of {pattern}")
    return text


def upstream(text, args):
    archive = Path(args.archive)
    release = re.fullmatch(r"tutti-(.+)\.tar\.gz", archive.name)[1]
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    maintainers = ", ".join(f'"{name}"' for name in args.maintainers)
    main = '    version("main", branch="main")\n'
    text = replaced(r"\A(#.*\n)+", HEAD, text)
    text = replaced(r"^import os\nfrom pathlib import Path\n\n", "", text)
    text = replaced(r"^_checkout = .*\n\n\n", "\n", text)
    text = replaced(r"^    homepage = .*", f'    homepage = "{args.homepage}"\n    url = "{args.url}"', text)
    text = replaced(r"^    git = .*", f'    git = "{args.git}"', text)
    text = replaced(r"^    license\(", f"    maintainers({maintainers})\n\n    license(", text)
    text = replaced(re.escape(main), f'{main}    version("{release}", sha256="{digest}")\n', text)
    library = '    depends_on("tutti@main", when="@main")\n'
    return text.replace(library, library + library.replace("main", release))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="of packages")
    for option in ("archive", "url", "homepage", "git"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--maintainers", nargs="+", required=True)
    args = parser.parse_args()
    for recipe in sorted(RECIPES.glob("*/package.py")):
        target = Path(args.folder) / recipe.parent.name / "package.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(upstream(recipe.read_text(), args))
        print(f"wrote {target}")


if __name__ == "__main__":
    main()
