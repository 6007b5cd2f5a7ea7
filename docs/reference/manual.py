# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages, as the programs of Tutti print them by --help-man, in Markdown."""

import re

from pages import escaped

FONT = {"B": "`{}`", "I": "*{}*", "R": "{}"}


def plain(roff):
    """Text without what roff needs."""
    return re.sub(r"\\([-e&])", lambda match: {"-": "-", "e": "\\", "&": ""}[match[1]], re.sub(r"\\f[BIR]", "", roff))


def inline(roff):
    """Bold text is code, and text in italics stands for what the user puts there."""
    pieces = re.split(r"\\f([BIR])", roff)
    made = [escaped(plain(pieces[0]))]
    for font, text in zip(pieces[1::2], pieces[2::2]):
        made.append(FONT[font].format(plain(text) if font == "B" else escaped(plain(text))) if text.strip() else text)
    return "".join(made)


def markdown(text):
    lines, term, code, headings = [], False, False, set()
    for line in text.splitlines():
        macro, _, rest = line.partition(" ") if line.startswith(".") else ("", "", line)
        if macro == ".TH":
            lines.append(f"# {plain(rest.split()[0]).lower()}(1)")
        elif macro in (".SH", ".SS"):
            heading = plain(rest).capitalize()
            level = "##" if macro == ".SH" else "###"
            lines += ["", f"**{heading}**" if heading in headings else f"{level} {heading}", ""]
            headings.add(heading)
        elif macro in (".nf", ".fi"):
            code = macro == ".nf"
            lines.append("```" if code else "```\n")
        elif macro == ".TP":
            term = True
        elif macro == ".PP":
            lines.append("")
        elif code:
            lines.append(plain(line))
        elif term:
            lines.append(f"* {inline(line)}:")
            term = False
        else:
            lines.append(("  " if lines[-1].startswith(("* ", "  ")) else "") + inline(line))
    return "\n".join(lines) + "\n"
