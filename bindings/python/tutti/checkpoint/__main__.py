# SPDX-License-Identifier: BSD-3-Clause
"""Lists, checks, exports and imports checkpoints: python3 -m tutti.checkpoint --help."""

import argparse
import sys

from . import Error, export_file, import_file, open


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tutti.checkpoint", description="Works on one process, without MPI.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("info", "lists saves, tables and other sections"),
        ("check", "reads everything, and compares the checksums"),
        ("export", "writes one file (.safetensors), or a folder of .npy files"),
        ("import", "makes a checkpoint of what export wrote, or of tensors of others"),
    ):
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == "import":
            command.add_argument("path", help="a .safetensors file, or a folder of .npy files")
        command.add_argument("folder", help="folder of the checkpoint")
        if name == "export":
            command.add_argument("path", help="a file that ends in .safetensors, or a folder for .npy files")
        if name != "check":
            command.add_argument("--prefix", default="embedding", help="of the collection (embedding)")
    given = parser.parse_args()
    try:
        if given.command == "import":
            import_file(given.path, given.folder, given.prefix)
            return 0
        saved = open(given.folder)
        if given.command == "export":
            export_file(saved, given.path, given.prefix)
        elif given.command == "check":
            saved.verify()
            print(f"{len(saved.names())} sections have their checksums")
        else:
            for save in saved.saves:
                print(f"save {save.number}: {save.parts} parts, {save.bytes} bytes")
            for name, table in saved.tables(given.prefix).items():
                state = table.state.optimizer if table.state else "none"
                print(f"table {name}: {table.rows} x {table.dim} {table.dtype}, state: {state}")
            for name in saved.names():
                if not saved.is_of_table(name):
                    print(f"section {name}: {saved.array(name).nbytes} bytes")
    except (Error, OSError) as error:
        print(f"tutti.checkpoint: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
