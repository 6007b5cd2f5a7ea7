#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the headers, and the C names that a built library exports, against api.def.

check_api.py [--without-training] [libtutti.so]
"""

import argparse
import re
import subprocess
import sys

import api_def



def squeeze(declaration):
    return re.sub(r"\s*([*(),;])\s*", r"\1", " ".join(declaration.split()))


def declared(training):
    text = api_def.header_text(training)
    return {squeeze(match) for match in re.findall(r"TUTTI_API\s+([^;{}#]*;)", text)}


def exported(library):
    output = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1].split("@")[0] for line in output.splitlines()}
    return {name for name in names if not name.startswith("_")}


def report(title, names):
    for name in sorted(names):
        print(f"{title}: {name}", file=sys.stderr)
    return len(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="?", metavar="libtutti.so")
    parser.add_argument("--without-training", action="store_true", help="for a library without this part")
    options = parser.parse_args()
    roles, functions = api_def.read(training=not options.without_training)
    listed = {squeeze(api_def.c_declaration(function, roles)) for function in functions}
    found = declared(not options.without_training)
    problems = report("declared in a header, not so in api.def", found - listed)
    problems += report("in api.def, not so declared in a header", listed - found)
    if options.library:
        names = {function.name for function in functions}
        problems += report("exported, not in api.def", exported(options.library) - names)
        problems += report("in api.def, not exported", names - exported(options.library))
    print(f"{len(functions)} functions, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
