# SPDX-License-Identifier: BSD-3-Clause
"""tutti-data is killed at any moment: no half file has a final name, and the next run goes on and gives the same files."""
import os
import signal
import subprocess
import time

from support import Program, contents, expect, lines_of, sidecar, write


def main():
    p = Program(__doc__)
    text, out = p.path("train.txt"), p.path("out")
    lines = lines_of(200)
    write(text, lines * 100)
    flags = ["convert", text, "-o", out, "--part-bytes", "64K"]
    begin = time.monotonic()
    p.run(0, "convert", text, "-o", p.path("whole"), "--part-bytes", "64K")
    seconds = time.monotonic() - begin
    want = contents(p.path("whole"))
    killed = reused = 0
    for share in (0.2, 0.4, 0.55, 0.7, 0.8, 0.9, 0.95):
        process = subprocess.Popen(p.command(0, flags), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(share * seconds)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        parts = out + ".parts"
        reused += sum(name.startswith("part-") and not name.endswith(".draft") for name in os.listdir(parts)) \
            if os.path.isdir(parts) else 0
        for entry in want:  # a file has its name when it is whole
            if entry != "json" and os.path.exists(out + entry):
                with open(out + entry, "rb") as file:
                    expect(f"{entry} after {share}", file.read() == want[entry])
        if os.path.exists(out + ".json"):
            expect("a sidecar has its files", contents(out) == want)
    expect(f"{killed} runs were killed, and left parts", killed >= 3 and reused > 0)

    # A part that is there is used: its text has become garbage of the same length and time.
    process = subprocess.Popen(p.command(0, flags), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    first = os.path.join(out + ".parts", "part-00000-00000000")
    while not os.path.exists(first) and process.poll() is None:
        time.sleep(0.001)
    process.kill()
    process.wait()
    expect("the first part is there", os.path.exists(first))
    stat = os.stat(text)
    with open(text, "r+b") as file:
        file.write(b"garbage")
    os.utime(text, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    p.run(2, *flags)
    expect("the files are those of a run that was not killed", contents(out) == want)
    expect("nothing else stays", not [n for n in os.listdir(p.folder.name) if "draft" in n or "parts" in n])

    # Parts of another text are not used.
    process = subprocess.Popen(p.command(0, flags), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.6 * seconds)
    process.kill()
    process.wait()
    write(text, lines * 3)
    p.run(2, *flags)
    samples = sidecar(out)["samples"]
    expect("the new text", samples["train"] + samples["test"] + samples["validation"] == 600)


if __name__ == "__main__":
    main()
