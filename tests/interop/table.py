# SPDX-License-Identifier: BSD-3-Clause
"""Results, their file and their table."""
import fcntl
import json

LEAST_SHARE = 90  # per cent of a program's calls


class Results:
    """One entry a program and number of ranks; kept in a file, so that a table can be of several runs."""

    def __init__(self, path):
        self.path, self.entries = path, {}
        self.read()

    def read(self):
        if self.path.exists():
            self.entries = json.loads(self.path.read_text(encoding="utf-8"))

    def keep(self, key, entry):
        """Another runner may keep its results in the same file."""
        with self.path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.read()
            self.entries[key] = entry
            self.path.write_text(json.dumps(self.entries, indent=1), encoding="utf-8")

    def add(self, job, plain, loaded):
        entry = {"suite": job.suite, "name": job.name, "ranks": job.ranks, "without": plain.why,
                 "seconds": plain.seconds, "needs_library": job.needs_library}
        if loaded is not None:
            entry |= {"with": loaded.why, "seconds_with": loaded.seconds, "through": loaded.through,
                      "calls": loaded.calls, "passed_on": loaded.passed_on}
        self.keep(job.key, entry)
        return entry

    def of(self, keys):
        return [self.entries[key] for key in keys if key in self.entries]


def passed(entry):
    return entry.get("with") == ""


def left_out(entry):
    return entry["without"] != ""


def failed(entry):
    return not left_out(entry) and "with" in entry and not passed(entry)


def dead_suites(entries):
    """Suites whose programs all fail without the library: they prove nothing."""
    return sorted({entry["suite"] for entry in entries} - {entry["suite"] for entry in entries if not left_out(entry)})


def share(through, calls):
    return f"{100 * through / calls:.1f} % of {calls:,}" if calls else "no calls"


def reasons_of(entries):
    """Why calls were passed on to the MPI, the most frequent reason first."""
    all_reasons = {}
    for entry in entries:
        for reason, count in entry.get("passed_on", {}).items():
            all_reasons[reason] = all_reasons.get(reason, 0) + count
    return "; ".join(f"{count:,} {reason}" for reason, count in sorted(all_reasons.items(), key=lambda item: -item[1]))


def row(suite, entries):
    """Times are of the programs that passed both ways."""
    both = [entry for entry in entries if not left_out(entry) and passed(entry)]
    timed = [entry for entry in both if not entry.get("needs_library")] or both
    plain, loaded = (sum(entry[key] for entry in timed) for key in ("seconds", "seconds_with"))
    tried = any("with" in entry for entry in entries)
    if all(entry.get("needs_library") for entry in entries):
        return [suite, ranks_of(entries), str(sum(not left_out(entry) for entry in entries)), "", str(len(both)),
                share_of(both), reasons_of(both), "", f"{loaded:.0f} s", ""]
    return [suite, ranks_of(entries), str(len(entries)), str(sum(not left_out(entry) for entry in entries)),
            str(len(both)) if tried else "",
            share_of(both) if tried else "", reasons_of(both) if tried else "",
            f"{plain:.0f} s" if tried else f"{sum(entry['seconds'] for entry in entries):.0f} s",
            f"{loaded:.0f} s" if tried else "", f"{loaded / plain:.2f}" if plain else ""]


def ranks_of(entries):
    return "-".join(str(n) for n in ends(entry["ranks"] for entry in entries))


def share_of(entries):
    return share(sum(entry["through"] for entry in entries), sum(entry["calls"] for entry in entries))


def ends(numbers):
    """The least and the most, once if they are equal."""
    found = list(numbers)
    return sorted({min(found), max(found)})


HEAD = ["programs of", "ranks", "runs", "pass without", "pass with", "calls through Tutti", "passed on", "time without", "with",
        "ratio"]


def rows(entries):
    suites = list(dict.fromkeys(entry["suite"] for entry in entries))
    found = [row(suite, [entry for entry in entries if entry["suite"] == suite]) for suite in suites]
    return found + [row("all", entries)] if len(suites) > 1 else found


def text(entries):
    lines = [HEAD] + rows(entries)
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def markdown(entries):
    lines = [HEAD, ["---"] * len(HEAD)] + rows(entries)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def told(entry):
    return f"{entry['suite']}: {entry['name']}, {entry['ranks']} ranks"


def remarks(entries):
    """What the table does not show, a line each."""
    lines = [f"FAILED with the library: {told(entry)}: {entry['with']}" for entry in entries if failed(entry)]
    lines += [f"left out{'' if entry.get('needs_library') else ', fails without the library'}: {told(entry)}: "
              f"{entry['without']}" for entry in entries if left_out(entry)]
    few = [entry for entry in entries if passed(entry) and 100 * entry["through"] < LEAST_SHARE * entry["calls"]]
    return lines + [f"under {LEAST_SHARE} %: {told(entry)}: {share(entry['through'], entry['calls'])}, passed on: "
                    f"{reasons_of([entry])}" for entry in few]
