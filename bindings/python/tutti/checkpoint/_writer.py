# SPDX-License-Identifier: BSD-3-Clause
"""Writes a checkpoint of one part, by the library's own rule: the manifest is replaced last."""

import json
import os
import re
import secrets
import zlib
from dataclasses import dataclass
from typing import Any, Callable, Iterable

from ._reader import HEADER, MAGIC, Checkpoint

ALIGNMENT = 64


@dataclass(frozen=True)
class Section:
    name: str
    bytes: int
    blocks: "Callable[[], Iterable[Any]]"  #: contiguous arrays, one after the other


def _headed(text: bytes) -> bytes:
    head = HEADER.pack(MAGIC, 1, zlib.crc32(text), len(text), 0, 0)[:-4]
    return head + zlib.crc32(head).to_bytes(4, "little") + text


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _table(sections: "list[Section]", begin: int, crcs: "list[int]") -> "tuple[bytes, list[int]]":
    offsets, at = [], begin
    for section in sections:
        offsets.append(at)
        at = _aligned(at + section.bytes)
    entries = zip(sections, offsets, crcs)
    return json.dumps([{"name": s.name, "offset": o, "bytes": s.bytes, "crc": c} for s, o, c in entries]).encode(), offsets


def _write_part(file: Any, sections: "list[Section]") -> int:
    """Returns the checksum of the table, whose length depends on the offsets in it."""
    longest = [2**32 - 1] * len(sections)
    begin, length = 0, -1
    while HEADER.size + length > begin or length < 0:
        begin = _aligned(HEADER.size + max(length, 0))
        length = len(_table(sections, begin, longest)[0])
    crcs = []
    for section, offset in zip(sections, _table(sections, begin, longest)[1]):
        file.seek(offset)
        crc = done = 0
        for block in section.blocks():
            crc = zlib.crc32(block, crc)
            file.write(block)
            done += len(memoryview(block).cast("B"))
        assert done == section.bytes, section.name
        crcs.append(crc)
    text = _table(sections, begin, crcs)[0].ljust(length)
    file.seek(0)
    file.write(_headed(text))
    return zlib.crc32(text)


def _publish(path: str, write: "Callable[[Any], int]") -> int:
    folder, name = os.path.split(path)
    draft = os.path.join(folder, f".{name}.{secrets.token_hex(8)}")
    try:
        with open(draft, "xb") as file:
            result = write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return result


def write(folder: str, sections: "list[Section]") -> None:
    """Replaces the folder's checkpoint, which stays valid until the new one is whole."""
    os.makedirs(folder, exist_ok=True)
    number = 1
    if os.path.exists(os.path.join(folder, "manifest")):
        number = Checkpoint(folder).saves[-1].number + 1
    crc = _publish(os.path.join(folder, f"part-{number}-0"), lambda file: _write_part(file, sections))
    text = json.dumps({"generation": number, "part_crcs": [crc]}).encode()
    _publish(os.path.join(folder, "manifest"), lambda file: int(file.write(_headed(text))))
    for name in os.listdir(folder):
        if re.fullmatch(r"part-\d+-\d+", name) and name != f"part-{number}-0":
            os.unlink(os.path.join(folder, name))
