# SPDX-License-Identifier: BSD-3-Clause
"""tutti_allocate and tutti_deallocate for pointers to arrays of the usual types, kinds and ranks."""

from fortran_text import Procedure, int32_twin

TYPES = {
    "integer": ("int32", "int64"),
    "real": ("real32", "real64"),
    "complex": ("real32", "real64"),
}
RANKS = (1, 2, 3)
IERROR = "integer, intent(out), optional :: ierror"


def pointer(kind, rank, intent):
    bounds = ", ".join(":" * rank)
    return f"{kind}, pointer, contiguous, intent({intent}) :: array({bounds})"


def allocate(stem, kind, rank):
    dummies = {
        "comm": "type(tutti_comm), intent(in) :: comm",
        "array": pointer(kind, rank, "out"),
        "shape": f"integer(int64), intent(in) :: shape({rank})",
        "memory": "integer, intent(in), optional :: memory",
        "ierror": IERROR,
    }
    body = [
        "nullify (array)",
        "call allocate_elements(comm, shape, storage_size(array)/8, memory, data, code)",
        "if (code == 0) call c_f_pointer(data, array, shape)",
        "call finish(code, ierror)",
    ]
    return Procedure(f"allocate_{stem}_int64", dummies, ["type(c_ptr) :: data", "integer(c_int) :: code"], body)


def deallocate(stem, kind, rank):
    body = [
        "code = tutti_success",
        "if (associated(array)) code = c_deallocate(c_loc(array))",
        "if (code == tutti_success) nullify (array)",
        "call finish(code, ierror)",
    ]
    dummies = {"array": pointer(kind, rank, "inout"), "ierror": IERROR}
    return Procedure(f"deallocate_{stem}", dummies, ["integer(c_int) :: code"], body)


def memory_forms():
    """The procedures by generic name. src/memory.inc adds those on addresses."""
    allocates, deallocates = [], []
    for word, kinds in TYPES.items():
        for kind in kinds:
            for rank in RANKS:
                stem = f"{word}_{kind}_{rank}"
                deallocates.append(deallocate(stem, f"{word}({kind})", rank))
                wide = allocate(stem, f"{word}({kind})", rank)
                allocates += [wide, int32_twin(wide, ["shape"])]
    return {"tutti_allocate": allocates, "tutti_deallocate": deallocates}
