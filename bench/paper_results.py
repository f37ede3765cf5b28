# SPDX-License-Identifier: Apache-2.0
"""Reads the JSON of `lanecrypt bench papers` for its plots and tables."""

import json
import re
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
RESULTS = REPOSITORY / "bench" / "results"
UNITS = ("B", "KiB", "MiB", "GiB")


def size_text(size):
    unit = 0
    while unit + 1 < len(UNITS) and size >= 1024:
        size /= 1024
        unit += 1
    return f"{size:.3g} {UNITS[unit]}"


def newest():
    """Returns the files of the machine that the newest file is of, newest first."""
    files = sorted(RESULTS.glob("*papers*.json"), key=lambda file: (file.name[:10], file.name), reverse=True)
    machines = [json.loads(file.read_text(encoding="utf-8"))["machine"]["cpu"] for file in files]
    return [file for file, machine in zip(files, machines) if machine == machines[0]]


class Papers:
    """The results of all files, which must be of one machine.

    A paper's figures come from the first file that has them. If there are several devices, those of
    one API are used: the part `.cuda` of their names (or what `api` names) becomes `.device`. H,
    and the measurements of M and R by the OpenGL of 2007, always use OpenGL and keep `.gl`.
    """

    def __init__(self, files, api="cuda"):
        self.results, self.sources, seen = [], [], set()
        is_opengl = re.compile(r"H\.|.*\.table8\.gl$")
        for file in files:
            run = json.loads(file.read_text(encoding="utf-8"))
            papers = {result["name"][0] for result in run["results"]} - seen
            if not papers:
                continue
            seen |= papers
            self.sources.append((file.name, run, papers))
            self.results += [
                result if is_opengl.match(result["name"]) else
                {**result, "name": re.sub(rf"\.{re.escape(api)}(?=\.|$)", ".device", result["name"])}
                for result in run["results"] if result["name"][0] in papers]
        self.sources.sort(key=lambda source: source[0])
        runs = [run for _, run, _ in self.sources]
        # OpenGL has a longer name for the same GPU.
        self.machine = min((run["machine"] for run in runs), key=lambda m: len(m["gpu"]) or 999)
        if len({run["machine"]["cpu"] for run in runs}) > 1:
            sys.exit("the files are not of one machine")

    def place(self, paper=None, quote=""):
        """Returns the machine, the date and the files, of all papers or of one."""
        runs = {}
        for name, run, papers in self.sources:
            if paper is None or paper in papers:
                software = run["software"]
                when = (run["date"], " ".join(software["openssl"].split(" ")[:2]), software["commit"])
                runs.setdefault(when, []).append(quote + name + quote)
        return (f"{self.machine['gpu']}, {self.machine['cores']} cores of {self.machine['cpu']}: " +
                "; ".join(f"{date}, {openssl}, commit {commit} ({', '.join(names)})"
                          for (date, openssl, commit), names in runs.items()))

    def named(self, pattern):
        """Yields (match, result) for all results whose whole names match."""
        for result in self.results:
            found = re.fullmatch(pattern, result["name"])
            if found:
                yield found, result

    def result(self, name, **more):
        """Returns the first result with that name and these fields, such as streams=100, or
        None."""
        return next((r for r in self.results if r["name"] == name
                     and all(r.get(key) == value for key, value in more.items())), None)

    def value(self, name, **more):
        result = self.result(name, **more)
        return result and result["value"]

    def curve(self, name, by="bytes"):
        return sorted((r[by], r["value"]) for r in self.results if r["name"] == name and by in r)

    def published(self, name, by="bytes"):
        return sorted((r[by], r["published"]) for r in self.results
                      if r["name"] == name and by in r and "published" in r)
