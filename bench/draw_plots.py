#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the plots in docs/plots/ from the JSON of `lanecrypt bench`.

Each plot takes all its figures from one file, the newest that has them, so that no plot mixes
machines. If no file has the figures of a plot, the script names the plot and leaves it as it is.
"""

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend must be set first)

from paper_results import REPOSITORY, RESULTS, size_text  # noqa: E402

PLOTS = REPOSITORY / "docs" / "plots"


@dataclass
class Run:
    """One file of results."""

    path: Path
    date: str
    machine: dict
    software: dict
    results: list

    def curve(self, *names):
        """Returns (bytes, GB/s) of all results with these names, sorted by bytes."""
        points = {r["bytes"]: r["value"] for r in self.results if r["name"] in names}
        return sorted(points.items())

    def value(self, name):
        return next((r["value"] for r in self.results if r["name"] == name), None)

    def caption(self):
        return (f"{self.machine['gpu']}, {self.machine['cores']} cores of {self.machine['cpu']}; "
                f"{self.software['openssl'].split(' ', 2)[0]} "
                f"{self.software['openssl'].split(' ', 2)[1]}; {self.path.name}")


def read(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    return Run(path, content.get("date", path.name[:10]), content["machine"], content["software"], content["results"])


def crossing(curve, other):
    """Returns the smallest size from which `curve` stays above `other`, or None. Both are sorted
    by size. `other` is assumed to stay level after its last point."""
    def at(points, size):
        below = [p for p in points if p[0] <= size]
        return below[-1][1] if below else points[0][1]

    best = None
    for size, rate in reversed(curve):
        if rate <= at(other, size):
            break
        best = size
    return best


def size_axes(title, caption):
    figure, axes = plt.subplots(figsize=(8, 4.8))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("bytes a call")
    axes.set_ylabel("GB/s")
    axes.set_title(title, loc="left")
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.text(0.01, 0.01, caption, fontsize=6.5, color="#666666")
    return figure, axes


LABEL_POINTS = 8


def label_ends(axes, labels):
    """Writes each (text, rate, colour) to the right of the axes at its rate, or as close to that
    as possible without touching another label."""
    axes.figure.canvas.draw()  # computes the axes' limits
    point = axes.figure.dpi / 72
    line = LABEL_POINTS * 1.25 * point

    def pixel(rate):
        return axes.transData.transform((1, rate))[1]

    below = -float("inf")
    for text, rate, colour in sorted(labels, key=lambda label: label[1]):
        half = (text.count("\n") + 1) * line / 2
        middle = max(pixel(rate), below + half)
        below = middle + half + line / 3
        axes.annotate(text, (1, rate), xycoords=axes.get_yaxis_transform(), va="center",
                      xytext=(6, (middle - pixel(rate)) / point), textcoords="offset points",
                      fontsize=LABEL_POINTS, color=colour, annotation_clip=False)


def draw_aes_sizes(run, cipher="aes-128-ctr"):
    """Draws GB/s against size for device memory, host memory and the CPU, with their
    crossings."""
    card = run.curve(f"{cipher}.card-sweep.cuda", f"{cipher}.card.cuda")
    pinned = run.curve(f"{cipher}.pinned-sweep.cuda", f"{cipher}.pinned.cuda")
    ordinary = run.curve(f"{cipher}.pageable-sweep.cuda", f"{cipher}.pageable.cuda")
    core = run.curve(f"{cipher}.openssl-sweep", f"{cipher}.openssl")
    cores = run.value(f"{cipher}.openssl-cores")
    if min(len(c) for c in (card, pinned, ordinary, core)) < 3 or cores is None:
        return None
    figure, axes = size_axes(f"{cipher.upper()}: where the data lie decides", run.caption())
    largest = max(c[-1][0] for c in (card, pinned, ordinary, core))
    everywhere = [(core[0][0], cores), (largest, cores)]
    lines = (
        (card, "data on the card", "#1b7837", "-"),
        (everywhere, f"OpenSSL, all {run.machine['cores']} cores", "#d6604d", "--"),
        (pinned, "pinned host memory,\nthere and back", "#2166ac", "-"),
        (ordinary, "ordinary host memory,\nthere and back", "#4393c3", "-"),
        (core, "OpenSSL, one core", "#b2182b", "-"),
    )
    labels = []
    for points, label, colour, style in lines:
        axes.plot(*zip(*points), style, color=colour, linewidth=1.8)
        start = crossing(points, core) if style == "-" and points is not core else None
        if start is not None:
            axes.plot([start], [dict(points)[start]], "o", color=colour, markersize=5)
            label += f"\n(beats a core from {size_text(start)})"
        elif points in (pinned, ordinary):
            label += "\n(never beats a core)"
        labels.append((label, points[-1][1], colour))
    ticks = [1 << n for n in range(4, largest.bit_length(), 4)]
    axes.set_xticks(ticks, [size_text(t) for t in ticks])
    axes.set_ylim(bottom=1e-3)
    axes.yaxis.set_major_formatter(lambda rate, _: f"{rate:g}")
    label_ends(axes, labels)
    return figure


def draw_rsa_batches(run, sizes=(2048, 3072, 4096, 8192)):
    """Draws operations a second and the time of a batch against the size of the batch, for each
    key length that the run has."""
    curves = {}
    for bits in sizes:
        name = f"rsa-{bits}.private-batch"
        points = sorted((r["streams"], r["value"]) for r in run.results
                        if r["name"].startswith(name) and r["name"].endswith(".cuda"))
        if len(points) >= 3 and run.value(f"rsa-{bits}.private.openssl") is not None:
            curves[bits] = points
    if len(curves) < 2:
        return None
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.4))
    colours = ("#1b7837", "#2166ac", "#762a83", "#b2182b")
    for axes, what in zip(panels, ("operations/s", "milliseconds a batch")):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("operations a batch")
        axes.set_title(what, loc="left")
        axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.set_xticks([8 ** n for n in range(6)], [f"{8 ** n:,}" for n in range(6)])
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    for (bits, points), colour in zip(curves.items(), colours):
        core = run.value(f"rsa-{bits}.private.openssl")
        counts, rates = zip(*points)
        panels[0].plot(counts, rates, "-", color=colour, linewidth=1.8, label=f"RSA-{bits}")
        panels[0].plot((1, counts[-1]), (core, core), ":", color=colour, linewidth=1.2)
        panels[1].plot(counts, [1e3 * n / rate for n, rate in points], "-", color=colour,
                       linewidth=1.8)
    panels[0].plot([], [], ":", color="#666666", label="OpenSSL, one core")
    panels[0].legend(frameon=False, fontsize=LABEL_POINTS)
    figure.text(0.01, 0.01, run.caption(), fontsize=6.5, color="#666666")
    return figure


def draw_host_cpu(run, cipher="aes-128-ctr", api="cuda"):
    """Draws the share of its core that a concurrent task keeps, against the job's rate."""
    lines = (
        (f"idle-pinned.{api}", "GPU, pinned memory", "#2166ac"),
        (f"idle-pageable.{api}", "GPU, ordinary memory", "#4393c3"),
        (f"idle-evp.{api}", "GPU, by OpenSSL's EVP", "#1b7837"),
        ("idle.openssl", "OpenSSL alone", "#b2182b"),
    )
    curves = {label: sorted((r["gb_per_s"], r["value"]) for r in run.results
                            if r["name"] == f"{cipher}.{name}") for name, label, _ in lines}
    curves = {label: points for label, points in curves.items() if len(points) > 1}
    if len(curves) < 2 or "OpenSSL alone" not in curves:
        return None
    figure, axes = plt.subplots(figsize=(8, 4.4))
    axes.set_xlabel(f"GB/s of {cipher.upper()} on the same core")
    axes.set_ylabel("% of its core left to a task that only counts")
    axes.set_title("What is left of the CPU", loc="left")
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda rate, _: f"{rate:g}")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for _, label, colour in lines:
        if label in curves:
            axes.plot(*zip(*curves[label]), "o-", color=colour, linewidth=1.8, markersize=4, label=label)
    axes.set_ylim(0, 105)
    axes.legend(frameon=False, fontsize=LABEL_POINTS)
    figure.text(0.01, 0.01, run.caption(), fontsize=6.5, color="#666666")
    return figure


def draw_handshakes(run):
    """Draws handshakes a second of a server with many processes against the number of processes,
    by OpenSSL alone and through the service, for each key length."""
    rates = {}
    for result in run.results:
        found = re.fullmatch(r"handshakes\.nginx-(\d+)\.rsa-(\d+)-tls13\.(openssl|service)",
                             result["name"])
        if found:
            rates.setdefault((int(found[2]), found[3]), []).append((int(found[1]), result["value"]))
    curves = {key: sorted(points) for key, points in rates.items() if len(points) > 2}
    if len({way for _, way in curves}) < 2:
        return None
    figure, axes = plt.subplots(figsize=(8, 4.4))
    axes.set_xscale("log", base=2)
    axes.set_xlabel("processes of nginx")
    axes.set_ylabel("TLS 1.3 handshakes a second")
    axes.set_title("nginx gains where its processes far outnumber its cores", loc="left")
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    colours = {"openssl": "#b2182b", "service": "#1b7837"}
    labels = []
    for (bits, way), points in sorted(curves.items()):
        axes.plot(*zip(*points), "o-", color=colours[way], linewidth=1.8, markersize=4)
        name = "through the service" if way == "service" else "OpenSSL alone"
        labels.append((f"RSA-{bits}, {name}", points[-1][1], colours[way]))
    counts = sorted({count for points in curves.values() for count, _ in points})
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    label_ends(axes, labels)
    figure.text(0.01, 0.01, run.caption(), fontsize=6.5, color="#666666")
    return figure


PLOTTERS = {"aes-sizes.svg": draw_aes_sizes, "rsa-batches.svg": draw_rsa_batches,
            "host-cpu.svg": draw_host_cpu, "handshakes.svg": draw_handshakes}


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path,
                        help="results, preferred first; by default bench/results, newest first")
    parser.add_argument("--out", type=Path, default=PLOTS, help="the folder for the plots")
    arguments = parser.parse_args()
    files = arguments.files or sorted(RESULTS.glob("*.json"), reverse=True)
    runs = [read(file) for file in files]

    # Makes the output reproducible: the same input gives the same file.
    plt.rcParams.update({"svg.hashsalt": "lanecrypt", "svg.fonttype": "none"})
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, draw in PLOTTERS.items():
        figure = next(filter(None, map(draw, runs)), None)
        if figure is None:
            print(f"draw_plots: {name}: no file has its figures", file=sys.stderr)
            continue
        figure.tight_layout(rect=(0, 0.03, 0.98, 1))
        figure.savefig(arguments.out / name, metadata={"Date": None}, facecolor="white")
        plt.close(figure)
        print(arguments.out / name)


if __name__ == "__main__":
    main()
