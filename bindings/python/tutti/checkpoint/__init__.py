# SPDX-License-Identifier: BSD-3-Clause
"""Reads checkpoints with NumPy alone: without MPI, and without the library, which need not be installed.

    saved = tutti.checkpoint.open("run")
    users = saved.tables()["user"]       # of the collection that was saved with the prefix "embedding"
    users[10:20], users[[3, 5]]          # rows in float32, as they are needed
    users.state[10:20]                   # the optimizer's state of these rows
    saved.array("bottom", "float32")     # any other section

    tutti.checkpoint.export_file(saved, "run.safetensors")    # or a folder, for .npy files; import_file() is the way back

Files are mapped, not read: a table may be larger than memory. This folder also works alone, copied to another machine:
python3 -m tutti.checkpoint --help lists, checks, exports and imports checkpoints there, too.
"""

from ._files import export_file, import_file
from ._reader import Checkpoint, Error, Save, State, Table, open

__all__ = ["Checkpoint", "Error", "Save", "State", "Table", "export_file", "import_file", "open"]
