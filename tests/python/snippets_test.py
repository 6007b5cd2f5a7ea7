# SPDX-License-Identifier: BSD-3-Clause
"""The Python of README.md and docs/python.md runs as it stands there."""

import pathlib
import re

import tutti
from support import comm

root = pathlib.Path(__file__).resolve().parents[2]


def run(page):
    text = (root / page).read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert blocks, f"{page} has no Python"
    names = {"__name__": page}
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(root / page), "exec"), names)
        comm.barrier()


def test_readme():
    run("README.md")


def test_guide():
    if not hasattr(tutti, "GradientReducer"):
        return "the library was built without its training layer"
    run("docs/python.md")


def test_package_page():
    run("bindings/python/README.md")
