#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes tutti_call_sites.h: macros that give the place of each call of tutti.h.

call_sites.py           writes it
call_sites.py --check   fails if it differs from what would be written
"""

import re
import sys

import api_def

FILE = api_def.HERE / "tutti_call_sites.h"
HEADER = """/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by call_sites.py from api.def; not to be edited. tutti.h includes it if TUTTI_CALL_SITES is defined. Each macro
   gives the place of a call to check mode, and calls the function of the same name. */
#ifndef TUTTI_TUTTI_CALL_SITES_H
#define TUTTI_TUTTI_CALL_SITES_H

/* clang-format off */
#define TUTTI_AT_HERE tutti_at(__FILE__, __LINE__, __func__)
"""
MESSAGES = re.compile(r"tutti_(i?send|i?recv|sendrecv|send_init|recv_init|group_(start|run|init))$")


def has_place(function):
    """Whether ranks meet in a function, or it passes a message. Those that free a handle have no place of interest."""
    return function.kind == "collective" and not function.name.endswith("_free") or MESSAGES.match(function.name)


def made():
    _, functions = api_def.read()
    declared = (api_def.HERE / "tutti.h").read_text()
    names = [f.name for f in functions if has_place(f) and re.search(rf"TUTTI_API int {f.name}\(", declared)]
    macros = [f"#define {name}(...) (TUTTI_AT_HERE, {name}(__VA_ARGS__))" for name in names]
    return "\n".join([HEADER, *macros, "/* clang-format on */", "", "#endif /* TUTTI_TUTTI_CALL_SITES_H */"]) + "\n"


def main():
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(made())
    elif not FILE.exists() or FILE.read_text() != made():
        print(f"{FILE.name} is not what api.def gives; run call_sites.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
