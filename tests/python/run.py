#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs all tests of the package on the ranks of this job: mpiexec -n 2 python3 tests/python/run.py [MODULE...].
Ends with 77 where NumPy is absent."""

import importlib
import sys

modules = ["communicators_test", "collectives_test", "exact_test", "messages_test", "arrays_test", "training_test",
           "snippets_test"]

try:
    import numpy  # noqa: F401
except ModuleNotFoundError as error:
    print(f"skipped: {error}")
    sys.exit(77)

for module in sys.argv[1:] or modules:
    import tutti
    from support import run

    if module == "training_test" and not hasattr(tutti, "GradientReducer"):
        continue  # the library was built without its training layer
    run(vars(importlib.import_module(module)))
