#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks at the rendered site in a browser without a screen: browser.py FOLDER [--browser PROGRAM] [--all]

In both themes, on a screen of 400 pixels: no page of the navigation is wider than the screen, text stands out from its
background (4.5 to 1, as WCAG 2 asks), the navigation opens and marks the page, and the search finds names and headings.
--all looks at the pages of all classes and headers too. Ends with 77 where there is no Chromium."""

import argparse
import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

SCRIPT = Path(__file__).with_name("browser.js")
NAMES = ("chromium", "chromium-browser", "google-chrome")
MORE = ("namespacetutti.html", "classtutti_1_1Communicator.html", "structtutti_1_1Buffer.html", "allreduce_8hpp.html")
SEARCHES = {  # what a reader types, and where a result leads
    "allreduce": "namespacetutti.html#", "tutti_iallreduce": "tutti_8h.html#",
    "Communicator": "classtutti_1_1Communicator.html", "fat tree": "page_tables.html#",
    "TUTTI_SHM": "page_environment.html", "hang progress": "page_"}


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site and the script that looks at it, and takes what the script has seen."""

    def __init__(self, *arguments, report, page, **named):
        self.report, self.page = report, page
        super().__init__(*arguments, **named)

    def do_GET(self):
        if self.path != "/look":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self.page.encode())

    def do_POST(self):
        self.report["seen"] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.report["done"].set()

    def log_message(self, *_):
        pass


def look(browser, folder, task, theme, seconds):
    """What the script reports in a theme."""
    task = json.dumps(task | {"dark": theme == "dark"})
    script = f"<script>const task = {task};\n{SCRIPT.read_text()}</script>"
    page = f"<!DOCTYPE html><style>:root {{ color-scheme: light dark }}</style>{script}"
    report = {"done": threading.Event(), "seen": None}
    handler = functools.partial(Handler, directory=folder, report=report, page=page)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, tempfile.TemporaryDirectory() as profile:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
        if theme == "dark":
            options += ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"]
        process = subprocess.Popen([browser, *options, f"http://127.0.0.1:{server.server_port}/look"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        report["done"].wait(seconds)
        process.terminate()
        process.wait()
        server.shutdown()
    return report["seen"] or {"problems": [f"the browser said nothing within {seconds} s"], "pages": 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--browser", default=next(filter(shutil.which, NAMES), None))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seconds", type=float, default=300)
    options = parser.parse_args()
    if not options.browser:
        print("skipped: no Chromium to look at the site with (Debian: chromium)")
        return 77
    start = (options.folder / "index.html").read_text(encoding="utf-8")
    pages = re.findall(r'href="([^"]*\.html)"', start[start.index("<nav"):start.index("</nav>")])
    more = sorted(path.name for path in options.folder.glob("*.html")) if options.all else MORE
    task = {"pages": list(dict.fromkeys([*pages, *more])), "searches": SEARCHES, "width": 400, "contrast": 4.5}
    bad = 0
    for theme in ("light", "dark"):
        seen = look(options.browser, options.folder, task, theme, options.seconds)
        bad += len(seen["problems"])
        print("\n".join([f"{theme}: {seen['pages']} pages, {len(seen['problems'])} problems", *seen["problems"]]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
