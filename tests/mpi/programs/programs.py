# SPDX-License-Identifier: BSD-3-Clause
"""Every program: help names all options, a wrong number ends all ranks with one line before any work, and so does a variable
that cannot be read; the manual page and the completion can be used."""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys

# A number outside the range of an option of each program, with the subcommand that has it.
WRONG = {"tutti": [["explain", "allreduce", "--ranks=0"], ["tune", "--rounds=-1"], ["regret", "--budget=nan"],
                   ["doctor", "--slow=0"]],
         "tutti-dlrm": [["--nepochs=-1"], ["--mini-batch-size=-3"], ["--preset=adult", "--learning-rate=abc"]],
         "tutti-sgd": [["--batch-size=-5"], ["--svg-file=x.svg"], ["--momentum=1"]],
         "tutti-commbench": [["--low=-4"], ["--budget=0"], ["--factor=1"]],
         "tutti-data": [["generate", "-o", "x", "--samples=0"], ["convert", "x", "-o", "x", "--hash-rows=-1"],
                        ["sample", "x", "--count=0"]],
         "tutti-kernelbench": [["embedding", "--dim=-1"], ["combine", "--bytes=0"], ["interaction", "--rounds=0"]]}


def expect(condition, what):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **more)


def options_of(program):
    done = run([program, "--help-options"])
    expect(done.returncode == 0, f"{program} --help-options\n{done.stderr}")
    return [line.split("\t") for line in done.stdout.splitlines()]


def help_names_all(program):
    helps = {}
    for subcommand, name, _, _ in options_of(program):
        if subcommand not in helps:
            done = run([program] + ([] if subcommand == "-" else [subcommand]) + ["--help"])
            expect(done.returncode == 0, f"{program} {subcommand} --help")
            helps[subcommand] = done.stdout
        for one in name.split(","):
            expect(one in helps[subcommand], f"{program} {subcommand}: {one} is not in its help")


def numbers_have_ranges(program):
    count = 0
    for _, name, kind, text in options_of(program):
        if re.match(r"(N|BYTES)\b", kind) and not (os.path.basename(program) == "tutti" and name == "--bytes"):
            count += 1
            expect(re.search(r"[\[(]-?\S+, \S+[\])]$", text), f"{program} {name} has no range: {text}")
    expect(count >= 5, f"{program}: {count} numbers")


def refuses(program, launcher):
    name = os.path.basename(program)
    for flags in WRONG[name]:
        done = run(shlex.split(launcher) + ["-n", "2", program] + flags)
        lines = [line for line in done.stderr.splitlines() if line.startswith(name)]
        option, _, value = flags[-1].partition("=")
        expect(done.returncode != 0, f"{name} {flags} was accepted\n{done.stdout}")
        expect(len(lines) == 1 and option in lines[0], f"{name} {flags}: {done.stderr}")
        expect(option == "--svg-file" or f"'{value}'" in lines[0], f"{name} {flags}: {lines[0]}")


def refuses_variables(program, launcher):
    """A variable that cannot be read is a line of each process, and so is one that rank 0 finds wrong later."""
    name = os.path.basename(program)
    flags = {"tutti": ["topo"], "tutti-commbench": ["-o", "barrier"], "tutti-data": ["info", "x"]}.get(name, [])
    for variable, value, remedy in (("TUTTI_SHM", "maybe", "set it to 0 or 1"), ("TUTTI_FLIGHT", "run1", "./run1"),
                                    ("TUTTI_TUNING", "/nowhere.json", "unset TUTTI_TUNING")):
        if name == "tutti-kernelbench" or (name, variable) == ("tutti", "TUTTI_TUNING"):
            continue
        done = run(shlex.split(launcher) + ["-n", "2", program] + flags, env=dict(os.environ, **{variable: value}))
        lines = [line for line in done.stderr.splitlines() if line.startswith(name)]
        expect(done.returncode != 0 and "terminate called" not in done.stderr, f"{name} {variable}: {done.stderr}")
        expect(1 <= len(lines) <= 2 and all(variable in line and remedy in line for line in lines),
               f"{name} {variable}: {done.stderr}")


def documents(program):
    name = os.path.basename(program)
    manual = run([program, "--help-man"]).stdout
    expect(manual.startswith(".TH ") and ".SH OPTIONS" in manual, f"{name}: {manual[:200]}")
    if shutil.which("man"):
        shown = run(["man", "--warnings", "-l", "-"], input=manual, env=dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="100"))
        expect(shown.returncode == 0 and not shown.stderr, f"{name}: man\n{shown.stderr}")
    completion = run([program, "--help-bash"]).stdout
    words = [name, "-"] if len({line[0] for line in options_of(program)}) == 1 else [name, options_of(program)[-1][0], "--"]
    script = f"{completion}\nCOMP_WORDS=({' '.join(words)})\nCOMP_CWORD={len(words) - 1}\n" \
             f"{'_' + name.replace('-', '_')}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = run(["bash", "-c", script])
    offered = done.stdout.split()
    wanted = [line[1] for line in options_of(program) if line[1].startswith("-")][-1].split(",")[-1]
    expect(done.returncode == 0 and wanted in offered, f"{name}: {wanted} is not completed\n{done.stdout}{done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--program", action="append", required=True)
    args = parser.parse_args()
    for program in args.program:
        help_names_all(program)
        numbers_have_ranges(program)
        refuses(program, args.launcher)
        refuses_variables(program, args.launcher)
        documents(program)
        print(f"{os.path.basename(program)}: as it should")


main()
