# SPDX-License-Identifier: BSD-3-Clause
"""Reads checkpoints: see __init__.py."""

import builtins
import json
import mmap
import os
import re
import struct
import zlib
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

HEADER = struct.Struct("<8sIIQII")
MAGIC = b"TUTTICKP"
_ROWS = re.compile(r"(.*) (\S+) rows (\d+):(\d+)(?::(\d+))? columns (\d+):(\d+)(?: of increment (\d+))?", re.DOTALL)
_ROW_TYPES = {"float32": "<f4", "float16": "<f2", "bfloat16": "<u2", "uint8": "u1"}
_STATE_NAMES = ("adagrad", "row-wise-adagrad", "adam")

Index = Union[int, slice, "np.ndarray[Any, Any]", "list[int]"]
Array = Any  # numpy.ndarray; its parameters are spelled differently from version to version


class Error(RuntimeError):
    """A checkpoint that is missing, damaged, or has not what was asked for. The text names file or section."""


@dataclass(frozen=True)
class Save:
    """The files of one save: the first of a checkpoint is full, the others have what changed since."""

    number: int
    parts: int
    bytes: int


@dataclass(frozen=True)
class _Section:
    part: str
    offset: int
    bytes: int
    crc: int


@dataclass(frozen=True)
class _Block:
    """A section with some rows of a table, in neighboring columns."""

    name: str
    content: str
    begin: int
    end: int
    step: int
    column_begin: int
    column_end: int
    increment: int

    @property
    def columns(self) -> int:
        return self.column_end - self.column_begin


def open(folder: Union[str, "os.PathLike[str]"]) -> "Checkpoint":
    """Opens the checkpoint in a folder. Raises Error if there is none, or if manifest or tables are damaged."""
    return Checkpoint(folder)


def headed_json(path: str, what: str) -> "tuple[Any, int]":
    """The text behind a header, and its checksum."""
    try:
        with builtins.open(path, "rb") as file:
            head = file.read(HEADER.size)
            if len(head) < HEADER.size:
                raise Error(f"{path}: the header is truncated; use another checkpoint")
            magic, version, crc, length, _, head_crc = HEADER.unpack(head)
            if magic != MAGIC:
                raise Error(f"{path}: is not a file of a checkpoint, or is damaged (its first bytes differ)")
            if zlib.crc32(head[:-4]) != head_crc:
                raise Error(f"{path}: the header is damaged (checksum); use another checkpoint")
            if version not in (1, 2):
                raise Error(f"{path}: has version {version}, but this program reads versions 1 and 2")
            text = file.read(min(length, os.fstat(file.fileno()).st_size))
    except OSError as error:
        raise Error(f"{path}: cannot be read: {error.strerror}; is this the folder of a checkpoint?") from error
    if len(text) != length:
        raise Error(f"{path}: {what} is truncated; use another checkpoint")
    if zlib.crc32(text) != crc:
        raise Error(f"{path}: {what} is damaged (checksum); use another checkpoint")
    try:
        return json.loads(text), crc
    except ValueError as error:
        raise Error(f"{path}: {what} is damaged (its checksum is right, its content is not)") from error


class Checkpoint:
    """The sections of a checkpoint, whichever rank and save wrote them."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        self.folder = os.fspath(folder)
        self._sections: "dict[str, _Section]" = {}
        self._maps: "dict[str, Array]" = {}
        self._saves: "list[Save]" = []
        manifest, _ = headed_json(os.path.join(self.folder, "manifest"), "the manifest")
        try:
            for save in [*manifest.get("before", []), manifest]:
                self._open_save(int(save["generation"]), save["part_crcs"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Error(f"{self.folder}: manifest or table is damaged (checksum is right, content is not)") from error

    def _open_save(self, number: int, crcs: "list[int]") -> None:
        total = 0
        for rank, expected in enumerate(crcs):
            part = os.path.join(self.folder, f"part-{number}-{rank}")
            table, crc = headed_json(part, "the table of sections")
            if crc != expected:
                raise Error(f"{part}: the checksum of its table differs from the manifest's; use another checkpoint")
            size = os.path.getsize(part)
            total += size
            for entry in table:
                section = _Section(part, int(entry["offset"]), int(entry["bytes"]), int(entry["crc"]))
                if section.bytes > 0 and section.offset + section.bytes > size:
                    raise Error(f"{part}: section '{entry['name']}' is truncated; use another checkpoint")
                self._sections[entry["name"]] = section
        self._saves.append(Save(number, len(crcs), total))

    @property
    def saves(self) -> "list[Save]":
        """The full save and the increments since; the last one was saved last."""
        return list(self._saves)

    def names(self) -> "list[str]":
        """The names of all sections."""
        return list(self._sections)

    def array(self, name: str, dtype: Any = "uint8") -> Array:
        """A section's content as a read-only array of one dimension, mapped from its file."""
        if name not in self._sections:
            raise Error(f"checkpoint {self.folder}: has no section '{name}'")
        section = self._sections[name]
        kind = np.dtype(dtype)
        if section.bytes % kind.itemsize != 0:
            raise Error(f"checkpoint {self.folder}: section '{name}' has {section.bytes} bytes, no multiple of {kind}")
        if section.bytes == 0:
            return np.empty(0, kind)
        if section.part not in self._maps:
            with builtins.open(section.part, "rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._maps[section.part] = np.frombuffer(mapped, "uint8")
        return self._maps[section.part][section.offset : section.offset + section.bytes].view(kind)

    def text(self, name: str) -> str:
        """A section's content as text."""
        return bytes(self.array(name)).decode()

    def verify(self) -> None:
        """Reads every section and compares its checksum. Raises Error that names the section."""
        for name, section in self._sections.items():
            if zlib.crc32(self.array(name)) != section.crc:
                raise Error(f"{section.part}: section '{name}' is damaged (checksum); use another checkpoint")

    @property
    def metadata(self) -> "dict[str, Any]":
        """What tutti-dlrm and tutti-sgd save beside parameters: model, run and position. Empty in other checkpoints."""
        if "run" not in self._sections:
            return {}
        found = json.loads(self.text("run"))
        return found if isinstance(found, dict) else {}

    def is_of_table(self, name: str) -> bool:
        """Whether a section has rows or state of a table, of any prefix."""
        found = _ROWS.fullmatch(name)
        return found is not None and found[2] in (*_ROW_TYPES, *_STATE_NAMES, "scales", "changed")

    def steps(self, prefix: str = "embedding") -> int:
        """The number of optimizer steps of a collection."""
        return int(self.array(f"{prefix} steps", "<u8")[0])

    def tables(self, prefix: str = "embedding") -> "dict[str, Table]":
        """The tables of the collection that was saved with this prefix."""
        blocks: "dict[str, list[_Block]]" = {}
        for name in self._sections:
            found = _ROWS.fullmatch(name[len(prefix) + 1 :]) if name.startswith(prefix + " ") else None
            if found and self.is_of_table(name):
                begin, end, step, column, columns_end, increment = (int(n or 0) for n in found.groups()[2:])
                blocks.setdefault(found[1], []).append(
                    _Block(name, found[2], begin, end, step or 1, column, columns_end, increment)
                )
        return {name: Table(self, name, sorted(found, key=lambda b: b.increment)) for name, found in blocks.items()}

    def __repr__(self) -> str:
        return f"<tutti.checkpoint.Checkpoint {self.folder!r}: {len(self._saves)} saves, {len(self._sections)} sections>"


class _Rows:
    """What tables and states have in common: values by row, from blocks of several ranks and saves."""

    def __init__(self, saved: Checkpoint, table: str, blocks: "list[_Block]", lists: "list[_Block]") -> None:
        self._saved = saved
        self._table = table
        self._blocks = blocks
        self._lists = lists
        self.rows = max(block.end for block in blocks)

    def __len__(self) -> int:
        return self.rows

    def _stored(self, block: _Block, count: int) -> Array:
        """The stored rows of a block, [count][...] with the columns last."""
        raise NotImplementedError

    def _empty(self, count: int) -> Array:
        raise NotImplementedError

    def _wanted(self, index: Index) -> Array:
        if isinstance(index, slice):
            return np.arange(*index.indices(self.rows), dtype=np.int64)
        rows = np.atleast_1d(np.asarray(index))
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise TypeError("rows are chosen by a number, a slice, or a list of numbers")
        rows = rows.astype(np.int64)
        rows = np.where(rows < 0, rows + self.rows, rows)
        if rows.size and (rows.min() < 0 or rows.max() >= self.rows):
            raise IndexError(f"table '{self._table}' has {self.rows} rows; a row is outside")
        return rows

    def _places(self, block: _Block) -> Array:
        """The places of the rows that a block of an increment stores."""
        for other in self._lists:
            same = (other.begin, other.end, other.step, other.column_begin, other.increment)
            if same == (block.begin, block.end, block.step, block.column_begin, block.increment):
                return self._saved.array(other.name, "<u4")
        raise Error(f"checkpoint {self._saved.folder}: lacks the places of '{block.name}'")

    def _matches(self, block: _Block, wanted: Array) -> "tuple[Array, Array, int]":
        """Which of the wanted rows a block has, where they are in it, and how many rows it stores."""
        near = np.flatnonzero((wanted >= block.begin) & (wanted < block.end))
        places, rest = np.divmod(wanted[near] - block.begin, block.step)
        near, places = near[rest == 0], places[rest == 0]
        if block.increment == 0:
            return near, places, (block.end - block.begin - 1) // block.step + 1
        stored = self._places(block)
        at = np.minimum(np.searchsorted(stored, places), max(len(stored) - 1, 0))
        found = stored[at] == places if len(stored) else np.zeros(len(places), bool)
        return near[found], at[found], len(stored)

    def _view(self, index: Index) -> Optional[Array]:
        """The mapped memory itself, if one full block has all the rows in order."""
        if not isinstance(index, slice) or any(block.increment for block in self._blocks):
            return None
        first, end, step = index.indices(self.rows)
        for block in self._blocks:
            whole = block.step == 1 and block.columns == self._empty(0).shape[-1]
            if whole and step == 1 and block.begin <= first < end <= block.end:
                stored = self._stored(block, block.end - block.begin)
                values = stored[first - block.begin : end - block.begin]
                return values if values.dtype == np.dtype("<f4") else None
        return None

    def __getitem__(self, index: Index) -> Array:
        view = self._view(index)
        if view is not None:
            return self._shaped(view)
        wanted = self._wanted(index)
        out = self._empty(len(wanted))
        covered = 0
        for block in self._blocks:
            near, places, count = self._matches(block, wanted)
            if len(near):
                out[near, ..., block.column_begin : block.column_end] = self._decoded(block, count, places)
            covered += len(near) * block.columns if block.increment == 0 else 0
        if covered != len(wanted) * out.shape[-1]:
            raise Error(f"checkpoint {self._saved.folder}: table '{self._table}' lacks some of the rows")
        out = self._shaped(out)
        return out[0] if isinstance(index, (int, np.integer)) else out

    def _decoded(self, block: _Block, count: int, places: Array) -> Array:
        return self._stored(block, count)[places]

    def _shaped(self, values: Array) -> Array:
        return values


class State(_Rows):
    """The optimizer's state of a table's rows: [rows][columns] of Adagrad, [rows][2][columns] of Adam, and [rows] of
    row-wise Adagrad."""

    def __init__(self, saved: Checkpoint, table: str, blocks: "list[_Block]", lists: "list[_Block]") -> None:
        super().__init__(saved, table, blocks, lists)
        self.optimizer = blocks[0].content
        self._parts = 2 if self.optimizer == "adam" else 1
        self._columns = max(block.column_end for block in blocks)

    def _stored(self, block: _Block, count: int) -> Array:
        return self._saved.array(block.name, "<f4").reshape(count, self._parts, block.columns)

    def _empty(self, count: int) -> Array:
        return np.empty((count, self._parts, self._columns), np.float32)

    def _shaped(self, values: Array) -> Array:
        if self.optimizer == "adam":
            return values
        return values[:, 0, 0] if self.optimizer == "row-wise-adagrad" else values[:, 0, :]


class Table(_Rows):
    """The rows of a table: table[row], table[begin:end], table[[rows]] in float32. A slice of rows of float32 that one
    rank has written in one save is mapped memory, and read-only; anything else is a copy."""

    def __init__(self, saved: Checkpoint, name: str, blocks: "list[_Block]") -> None:
        lists = [block for block in blocks if block.content == "changed"]
        rows = [block for block in blocks if block.content in _ROW_TYPES]
        if not rows:
            raise Error(f"checkpoint {saved.folder}: table '{name}' has no rows of a type that is known")
        super().__init__(saved, name, rows, lists)
        self.name = name
        self.dim = max(block.column_end for block in rows)
        self.dtype = rows[-1].content
        self._scales = [block for block in blocks if block.content == "scales"]
        state = [block for block in blocks if block.content in _STATE_NAMES]
        #: None where the optimizer has none.
        self.state = State(saved, name, state, lists) if state else None

    @property
    def shape(self) -> "tuple[int, int]":
        return self.rows, self.dim

    def _stored(self, block: _Block, count: int) -> Array:
        return self._saved.array(block.name, _ROW_TYPES[block.content]).reshape(count, block.columns)

    def _empty(self, count: int) -> Array:
        return np.empty((count, self.dim), np.float32)

    def _decoded(self, block: _Block, count: int, places: Array) -> Array:
        stored = self._stored(block, count)[places]
        if block.content == "bfloat16":
            return (stored.astype(np.uint32) << 16).view(np.float32)
        if block.content == "uint8":
            scales = self._scales_of(block, count)[places]
            return stored.astype(np.float32) * scales[:, :1] + scales[:, 1:]
        return stored

    def _scales_of(self, block: _Block, count: int) -> Array:
        for other in self._scales:
            same = (other.begin, other.end, other.step, other.column_begin, other.column_end, other.increment)
            if same == (block.begin, block.end, block.step, block.column_begin, block.column_end, block.increment):
                return self._saved.array(other.name, "<f4").reshape(count, 2)
        raise Error(f"checkpoint {self._saved.folder}: lacks the scales of '{block.name}'")

    def __repr__(self) -> str:
        state = f", state of {self.state.optimizer}" if self.state else ""
        return f"<tutti.checkpoint.Table {self.name!r}: {self.rows} x {self.dim} {self.dtype}{state}>"
