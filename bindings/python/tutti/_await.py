# SPDX-License-Identifier: BSD-3-Clause
"""Requests in asyncio: other tasks run between the tests of a request."""

import asyncio
from collections.abc import Generator
from typing import Any

from ._core import Request

_eager_tests = 100
_longest_pause = 1e-3  # seconds


async def _finish(request: Request) -> Any:
    tests = 0
    pause = 1e-5
    while not request.test():
        tests += 1
        if tests < _eager_tests:
            await asyncio.sleep(0)
        else:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _longest_pause)
    return request.result


def iterate(request: Request) -> Generator[Any, None, Any]:
    """The body of Request.__await__."""
    return _finish(request).__await__()
