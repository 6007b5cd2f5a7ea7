# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints as files of others: one .npy for each table, state and other section, or one .safetensors with all.

Both have the same tensors: "<table>" with the rows in float32, "<table> <optimizer>" with the state, and each other
section under its own name, in float32 where tutti-dlrm saves parameters, else in bytes. They are written and read block
by block.
"""

import functools
import json
import os
from typing import Any, Iterator, Union

import numpy as np

from ._reader import Checkpoint, Error, State, Table
from ._writer import Section, write

_BLOCK = 4 << 20  #: bytes at once
_SECTION = 16 << 20  #: bytes of a section of a table, as the library writes them
_DENSE = ("bottom", "top", "interaction")
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "U32": "<u4", "U8": "u1"}
_INDEX = "checkpoint.json"
Path = Union[str, "os.PathLike[str]"]


def _blocks(values: Any) -> "Iterator[Any]":
    """Contiguous parts of what has rows: an array, a table or a state."""
    rows = len(values)
    row_bytes = max(1, values[0:1].nbytes) if rows else 1
    step = max(1, _BLOCK // row_bytes)
    for begin in range(0, rows, step):
        yield np.ascontiguousarray(values[begin : begin + step])


class _Tensor:
    """Something to write: its name, shape and type, and its values by rows."""

    def __init__(self, name: str, values: Any) -> None:
        self.name = name
        self.values = values
        first = values[0:1]
        self.shape = (len(values), *first.shape[1:])
        self.dtype = first.dtype

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * int(self.dtype.itemsize)


def _is_dense(name: str) -> bool:
    return name in _DENSE or name.removesuffix(" state") in _DENSE


def _tensors(saved: Checkpoint, prefix: str) -> "tuple[list[_Tensor], dict[str, Any]]":
    """All tensors, and the index that import_file() reads."""
    tensors, tables = [], {}
    for name, table in saved.tables(prefix).items():
        tensors.append(_Tensor(name, table))
        tables[name] = table.state.optimizer if table.state else None
        if table.state:
            tensors.append(_Tensor(f"{name} {table.state.optimizer}", table.state))
    for name in saved.names():
        if name != f"{prefix} steps" and not saved.is_of_table(name):
            tensors.append(_Tensor(name, saved.array(name, "<f4" if _is_dense(name) else "u1")))
    names = [tensor.name for tensor in tensors]
    if len(set(names)) != len(names):
        raise Error(f"checkpoint {saved.folder}: a table and another section have the same name; rename the table")
    steps = saved.steps(prefix) if f"{prefix} steps" in saved.names() else None
    return tensors, {"prefix": prefix, "steps": steps, "tables": tables}


def export_file(saved: Checkpoint, path: Path, prefix: str = "embedding") -> None:
    """Writes a file whose name ends in .safetensors, or .npy files into a folder, with the tables of one prefix. Existing
    files are replaced."""
    tensors, index = _tensors(saved, prefix)
    if os.fspath(path).endswith(".safetensors"):
        return _export_safetensors(os.fspath(path), tensors, index)
    os.makedirs(path, exist_ok=True)
    files = {tensor.name: f"{number}.npy" for number, tensor in enumerate(tensors)}
    for tensor in tensors:
        name = tensor.name.replace("/", "_") + ".npy"
        if name not in files.values():
            files[tensor.name] = name
        with open(os.path.join(path, files[tensor.name]), "wb") as file:
            head = {"descr": tensor.dtype.str, "fortran_order": False, "shape": tensor.shape}
            np.lib.format.write_array_header_1_0(file, head)
            for block in _blocks(tensor.values):
                file.write(block)
    with open(os.path.join(path, _INDEX), "w", encoding="utf-8") as file_of_index:
        json.dump({**index, "files": files}, file_of_index, indent=1)


def _export_safetensors(path: str, tensors: "list[_Tensor]", index: "dict[str, Any]") -> None:
    head: "dict[str, Any]" = {"__metadata__": {"tutti": json.dumps(index)}}
    at = 0
    for tensor in tensors:
        kind = next(name for name, dtype in _TYPES.items() if np.dtype(dtype) == tensor.dtype)
        head[tensor.name] = {"dtype": kind, "shape": tensor.shape, "data_offsets": [at, at + tensor.bytes]}
        at += tensor.bytes
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors:
            for block in _blocks(tensor.values):
                file.write(block)


def _read_safetensors(path: str) -> "tuple[dict[str, Any], Any]":
    try:
        data = np.memmap(path, "u1", "r")
        length = int.from_bytes(bytes(data[:8]), "little")
        head = json.loads(bytes(data[8 : 8 + length]))
        index = json.loads(head.pop("__metadata__", {}).get("tutti", "null"))
        tensors = {}
        for name, entry in head.items():
            begin, end = entry["data_offsets"]
            content = data[8 + length + begin : 8 + length + end]
            values = content.view(_TYPES[entry["dtype"]]).reshape(entry["shape"])
            tensors[name] = _Wide(values) if entry["dtype"] == "BF16" else values
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Error(f"{path}: is no file of safetensors, has a type that is not known, or is truncated") from error
    return tensors, index


class _Wide:
    """Values of bfloat16, in float32."""

    def __init__(self, values: Any) -> None:
        self._values = values
        self.ndim = values.ndim
        self.dtype = np.dtype(np.float32)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, rows: slice) -> Any:
        return (self._values[rows].astype(np.uint32) << 16).view(np.float32)


def _read_npy(path: str) -> "tuple[dict[str, Any], Any]":
    """The tensors, and the index of export_file(); None in files of others."""
    index = None
    names = {name: name[:-4] for name in sorted(os.listdir(path)) if name.endswith(".npy")}
    if os.path.exists(os.path.join(path, _INDEX)):
        with open(os.path.join(path, _INDEX), encoding="utf-8") as file:
            index = json.load(file)
        names = {file_name: name for name, file_name in index.pop("files").items()}
    if not names:
        raise Error(f"{path}: has no .npy files")
    tensors = {}
    for file_name, name in names.items():
        full = os.path.join(path, file_name)
        try:
            tensors[name] = np.load(full, mmap_mode="r" if os.path.getsize(full) > 4096 else None)
        except (OSError, ValueError) as error:
            raise Error(f"{full}: is no .npy file of numbers, or is truncated") from error
    return tensors, index


def _table_sections(prefix: str, table: str, content: str, values: Any, dtype: str) -> "Iterator[Section]":
    """Sections of some rows each."""
    rows = len(values)
    width = values[0:1].size // max(1, len(values[0:1]))
    columns = 1 if content == "row-wise-adagrad" else values[0:1].shape[-1]
    step = max(1, _SECTION // max(1, width * np.dtype(dtype).itemsize))
    for begin in range(0, rows, step):
        end = min(begin + step, rows)

        def blocks(begin: int = begin, end: int = end) -> "Iterator[Any]":
            yield np.ascontiguousarray(values[begin:end], dtype)

        name = f"{prefix} {table} {content} rows {begin}:{end} columns 0:{columns}"
        yield Section(name, (end - begin) * width * np.dtype(dtype).itemsize, blocks)


def import_file(path: Path, folder: Path, prefix: str = "embedding") -> None:
    """Writes a checkpoint from what export_file() wrote, or from tensors of others: those with two dimensions become
    tables without state, the others sections. It replaces the folder's checkpoint."""
    source = os.fspath(path)
    tensors, index = _read_npy(source) if os.path.isdir(source) else _read_safetensors(source)
    if index is None:
        tables = {name: None for name, values in tensors.items() if values.ndim == 2 and values.dtype.kind == "f"}
        index = {"prefix": prefix, "steps": 0, "tables": tables}
    prefix = index["prefix"]
    sections: "list[Section]" = []
    left = dict(tensors)
    for table, optimizer in index["tables"].items():
        for content, name in (("float32", table), (optimizer, f"{table} {optimizer}")):
            if content is None:
                continue
            if name not in left:
                raise Error(f"{source}: lacks the tensor '{name}'")
            sections += _table_sections(prefix, table, content, left.pop(name), "<f4")
    if index["steps"] is not None:
        steps = np.array([index["steps"]], "<u8")
        sections.append(Section(f"{prefix} steps", 8, lambda: [steps]))
    for name, values in left.items():
        values = values if values.ndim else values.reshape(1)
        sections.append(Section(name, _Tensor(name, values).bytes, functools.partial(_blocks, values)))
    write(os.fspath(folder), sections)
