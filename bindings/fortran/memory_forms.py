# SPDX-License-Identifier: BSD-3-Clause
"""tutti_allocate and tutti_deallocate for pointers to arrays of the usual types, kinds and ranks."""

from fortran_text import HEADER, generic, procedure

TYPES = {
    "integer": ("int32", "int64"),
    "real": ("real32", "real64"),
    "complex": ("real32", "real64"),
}
RANKS = (1, 2, 3)
SHAPE_KINDS = ("int32", "int64")


def pointer(kind, rank, intent):
    bounds = ", ".join(":" * rank)
    return f"{kind}, pointer, contiguous, intent({intent}) :: array({bounds})"


def allocate(name, kind, rank, shape_kind):
    declarations = [
        "type(tutti_comm), intent(in) :: comm",
        pointer(kind, rank, "out"),
        f"integer({shape_kind}), intent(in) :: shape({rank})",
        "integer, intent(in), optional :: memory",
        "integer, intent(out), optional :: ierror",
        "type(c_ptr) :: data",
        "integer(c_int) :: code",
    ]
    body = [
        "nullify (array)",
        "call allocate_elements(comm, int(shape, int64), storage_size(array)/8, memory, data, code)",
        "if (code == 0) call c_f_pointer(data, array, shape)",
        "call finish(code, ierror)",
    ]
    return procedure(name, ["comm", "array", "shape", "memory", "ierror"], declarations, body)


def deallocate(name, kind, rank):
    declarations = [
        pointer(kind, rank, "inout"),
        "integer, intent(out), optional :: ierror",
        "integer(c_int) :: code",
    ]
    body = [
        "code = tutti_success",
        "if (associated(array)) code = c_deallocate(c_loc(array))",
        "if (code == tutti_success) nullify (array)",
        "call finish(code, ierror)",
    ]
    return procedure(name, ["array", "ierror"], declarations, body)


def memory_files():
    """memory_<type>.inc, the procedures, and memory_generics.inc, the names they go by."""
    files, allocates, deallocates = {}, [], []
    for word, kinds in TYPES.items():
        lines = [HEADER]
        for kind in kinds:
            for rank in RANKS:
                stem = f"{word}_{kind}_{rank}"
                deallocates.append(f"deallocate_{stem}")
                lines += deallocate(deallocates[-1], f"{word}({kind})", rank)
                for shape_kind in SHAPE_KINDS:
                    allocates.append(f"allocate_{stem}_{shape_kind}")
                    lines += allocate(allocates[-1], f"{word}({kind})", rank, shape_kind)
        files[f"memory_{word}.inc"] = "\n".join(lines).rstrip() + "\n"
    addresses = [f"allocate_address_{kind}" for kind in SHAPE_KINDS]
    lines = [HEADER] + generic("tutti_allocate", addresses + allocates)
    lines += generic("tutti_deallocate", ["deallocate_address", *deallocates])
    files["memory_generics.inc"] = "\n".join(lines) + "\n"
    return files
