#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/plots/papers-*.svg from the JSON of `lanecrypt bench papers`.

If there are several devices, it draws those of one API: CUDA, unless --api names another. H always
uses OpenGL.

There is one picture per paper. It shows the rates measured here, and the paper's figures as
diamonds (`published` in the results). All pictures of one call come from the given files, which
must be of one machine. By default these are the newest files of each paper in bench/results. If
no file has the figures of a picture, the script names the picture and leaves it as it is.
"""

import argparse
import re
import sys
from pathlib import Path

from draw_plots import LABEL_POINTS, PLOTS, plt
from paper_results import Papers, newest, size_text

GREEN, BLUE, LIGHT, RED, PURPLE, GREY = (
    "#1b7837", "#2166ac", "#4393c3", "#b2182b", "#762a83", "#888888")


def prepare(axes, title, unit, log="y"):
    axes.set_title(title, loc="left", fontsize=9.5)
    axes.set_ylabel(unit, fontsize=LABEL_POINTS)
    axes.tick_params(labelsize=LABEL_POINTS - 0.5)
    if "x" in log:
        axes.set_xscale("log", base=2)
    if "y" in log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def legend(axes, **more):
    axes.legend(frameon=False, fontsize=LABEL_POINTS - 1, **more)


def size_ticks(axes, points):
    sizes = sorted(size for size, _ in points)
    first, last = sizes[0].bit_length() - 1, sizes[-1].bit_length() - 1
    ticks = [1 << n for n in range(first, last + 1, max((last - first) // 5, 1))]
    axes.set_xticks(ticks, [size_text(t) for t in ticks])


def draw_curves(axes, papers, lines, by="bytes"):
    """Draws lines of (name, label, colour, style), with the paper's points in grey."""
    all_points = []
    for name, label, colour, style in lines:
        points = papers.curve(name, by)
        if not points:
            continue
        all_points += points
        axes.plot(*zip(*points), style, color=colour, linewidth=1.6, label=label)
        known = papers.published(name, by)
        if known:
            axes.plot(*zip(*known), "D", color=colour, markerfacecolor="none", markersize=5,
                      alpha=0.6)
    if all_points and by == "bytes":
        size_ticks(axes, all_points)
    return bool(all_points)


def draw_bars(axes, rows, colour_of):
    """Draws a bar for each row of (label, value, published), from top to bottom."""
    places = range(len(rows))
    axes.barh(list(places), [value for _, value, _ in rows], height=0.7,
              color=[colour_of(label) for label, _, _ in rows])
    for place, (_, value, known) in zip(places, rows):
        axes.annotate(f"{value:.3g}", (value, place), va="center", xytext=(4, 0),
                      textcoords="offset points", fontsize=LABEL_POINTS - 1.5)
        if known is not None:
            axes.plot([known], [place], "D", color=GREY, markersize=4)
    axes.set_yticks(list(places), [label for label, _, _ in rows], fontsize=LABEL_POINTS - 1)
    axes.invert_yaxis()


def prepare_bars(axes, title, unit):
    prepare(axes, title, "", log="")
    axes.set_xscale("log")
    axes.set_xlabel(unit, fontsize=LABEL_POINTS)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.grid(False, axis="y")


def colour_by(words):
    return lambda label: next((colour for word, colour in words if word in label), GREEN)


FILE_WAYS = (("openssl", "OpenSSL, one core", RED), ("openssl-cores", "OpenSSL, by all readers", "#f4a582"),
             ("device", "device", GREEN), ("copies.device", "copies alone", LIGHT),
             ("null", "null cipher", GREY))


def draw_r(papers):
    if not list(papers.named(r"R\.file-\d\.(ram|disk)\.device")):
        return None
    figure, panels = plt.subplots(2, 2, figsize=(11, 8))
    for axes, where, title in ((panels[0][0], "ram", "R: the eight files, RAM disk"),
                               (panels[0][1], "disk", "R: the eight files, disk")):
        prepare(axes, title, "seconds")
        axes.set_xlabel("file of the paper", fontsize=LABEL_POINTS)
        for step, (way, label, colour) in enumerate(FILE_WAYS):
            rows = [(int(m[1]), r) for m, r in
                    papers.named(rf"R\.file-(\d)\.{where}\.{re.escape(way)}")]
            if not rows:
                continue
            axes.bar([n + 0.16 * (step - 2) for n, _ in rows], [r["value"] for _, r in rows],
                     width=0.15, color=colour, label=label)
            known = [(n + 0.16 * (step - 2), r["published"]) for n, r in rows if "published" in r]
            if known:
                axes.plot(*zip(*known), "D", color=GREY, markersize=3.5)
        axes.set_ylim(top=axes.get_ylim()[1] * 8)  # room for the legend
        legend(axes, ncols=2)
    draw_grid(panels[1][0], papers)
    draw_over_time(panels[1][1], papers)
    return figure


def draw_grid(axes, papers):
    best = {}
    for match, result in papers.named(r"R\.grid\.(\d+)x(\d+)x(\d+)\.device"):
        best.setdefault((int(match[2]), int(match[1])), {})[int(match[3])] = result["value"]
    prepare(axes, "R: blocks x threads, most GB/s of all blocks a thread", "threads a block", log="")
    if not best:
        return
    threads = sorted({key[0] for key in best})
    groups = sorted({key[1] for key in best})
    table = [[max(best.get((thread, group), {0: 0}).values()) for group in groups] for thread in threads]
    axes.imshow(table, cmap="Greens", aspect="auto", origin="lower")
    for row, values in enumerate(table):
        for column, value in enumerate(values):
            each = best.get((threads[row], groups[column]), {})
            at = max(each, key=each.get) if each else 0
            axes.annotate(f"{value:.0f}\n({at} each)", (column, row), ha="center", va="center",
                          fontsize=LABEL_POINTS - 1.5,
                          color="white" if value > 0.6 * max(map(max, table)) else "black")
    axes.set_xticks(range(len(groups)), groups)
    axes.set_yticks(range(len(threads)), threads)
    axes.set_xlabel("blocks", fontsize=LABEL_POINTS)
    axes.grid(False)


def draw_over_time(axes, papers):
    prepare(axes, "R: CPU over time, file 6 from a RAM disk again and again", "% of a core", log="")
    axes.set_xlabel("seconds", fontsize=LABEL_POINTS)
    for name, label, colour in (("R.file-6.ram.openssl", "OpenSSL, one core", RED),
                                ("R.file-6.ram.device", "device", GREEN),
                                ("R.card.device", "device, data on the card", BLUE)):
        for result in papers.results:
            if result["name"] == name + ".cpu-over-time":
                axes.plot(*zip(*result["series"]), "-", color=colour, linewidth=1.2, label=label)
    power = axes.twinx()
    power.set_ylabel("watts of the card (dotted)", fontsize=LABEL_POINTS)
    power.tick_params(labelsize=LABEL_POINTS - 0.5)
    for name, colour in (("R.idle", GREY), ("R.file-6.ram.device", GREEN), ("R.card.device", BLUE)):
        for result in papers.results:
            if result["name"] == name + ".power":
                power.plot(*zip(*result["series"]), ":", color=colour, linewidth=1.2)
    for scale in (power, axes):
        scale.set_ylim(0, 1.15 * scale.get_ylim()[1])
    legend(axes, loc="upper left", ncols=3)


def draw_h(papers):
    ways = r"(compute|integer|table8\S*?|table4\S*?|raster\S*?)"
    aes = [(m[1], r["value"], r.get("published")) for m, r in
           papers.named(rf"H\.aes-128-ecb\.{ways}\.there-and-back\.gl")]
    if len(aes) < 3:
        return None
    colours = colour_by((("table8", LIGHT), ("table4", BLUE), ("raster", PURPLE), ("core", RED),
                         ("OpenSSL", RED)))
    figure, panels = plt.subplots(2, 2, figsize=(11, 9))
    axes = panels[0][0]
    prepare_bars(axes, "H: AES-128, there and back", "GB/s")
    core = papers.value("H.aes-128-ecb.openssl")
    draw_bars(axes, aes + ([("OpenSSL, a core", core, 0.046)] if core else []), colours)
    axes = panels[0][1]
    prepare_bars(axes, "H: XOR alone", "GB/s")
    xor = []
    for size in sorted({r["bytes"] for _, r in papers.named(r"H\.xor\..*")}):
        for m, r in papers.named(r"H\.xor\.(\S+?)(?:\.(card|there-and-back)\.gl)?"):
            if r["bytes"] == size:
                back = ", there and back" if m[2] == "there-and-back" else ""
                xor.append((f"{m[1]}{back}, {size_text(size)}", r["value"], r.get("published")))
    draw_bars(axes, xor, colours)
    axes = panels[1][0]
    prepare(axes, "H: size of a packet", "GB/s", log="xy")
    draw_curves(axes, papers, (
        ("H.aes-128-ecb.openssl-packets", "OpenSSL, a core", RED, "-"),
        ("H.aes-128-ecb.compute.there-and-back.gl-packets", "compute", GREEN, "-"),
        ("H.aes-128-ecb.integer.there-and-back.gl-packets", "integer", "#5aae61", "-"),
        ("H.aes-128-ecb.raster-multi-rot.there-and-back.gl-packets", "raster", PURPLE, "-"),
        ("H.aes-128-ecb.table8-multi-rot.there-and-back.gl-packets", "table8", LIGHT, "-"),
        ("H.aes-128-ecb.table4-multi-rot.there-and-back.gl-packets", "table4", BLUE, "--")))
    legend(axes)
    axes = panels[1][1]
    prepare_bars(axes, "H: what another task keeps of the core (paper: 75 to 99)", "% idle")
    axes.set_xscale("linear")
    draw_bars(axes, [(m[1], r["value"], None) for m, r in papers.named(r"H\.idle\.(\S+)\.gl")],
              colours)
    return figure


def draw_m(papers):
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.4))
    drawn = False
    for axes, cipher in zip(panels, ("aes-128-ecb", "aes-256-ecb")):
        prepare(axes, f"M: {cipher.upper()} against size", "GB/s", log="xy")
        drawn |= draw_curves(axes, papers, (
            (f"M.{cipher}.kernel.device", "kernel, encryption", GREEN, "-"),
            (f"M.{cipher}-decrypt.kernel.device", "kernel, decryption", GREEN, "--"),
            (f"M.{cipher}.total.device", "with the copies, encryption", BLUE, "-"),
            (f"M.{cipher}-decrypt.total.device", "with the copies, decryption", BLUE, "--"),
            (f"M.{cipher}.openssl", "OpenSSL, one core", RED, "-")))
        legend(axes)
    return figure if drawn else None


def draw_w(papers):
    rows = []
    for name, label in (("packet-by-packet.device", "device, one by one"),
                        ("packets-at-once.device", "device, all at once"),
                        ("packets.openssl", "OpenSSL, a core")):
        for direction, cipher in (("encrypt", "aes-128-ecb"), ("decrypt", "aes-128-ecb-decrypt")):
            for _, r in papers.named(re.escape(f"W.{cipher}.{name}")):
                rows.append((f"{label}, {direction}", r["value"], r.get("published")))
    if not rows:
        return None
    figure, panels = plt.subplots(1, 2, figsize=(11, 3.6))
    prepare_bars(panels[0], "W: packets of 8 KiB", "GB/s")
    draw_bars(panels[0], rows, colour_by((("OpenSSL", RED), ("one by one", LIGHT))))
    prepare_bars(panels[1], "W: share of the device's time (paper: 87 % kernel)", "%")
    panels[1].set_xscale("linear")
    shares = [(f"{m[2]}, {'decrypt' if m[1] else 'encrypt'}", r["value"], r.get("published"))
              for m, r in papers.named(r"W\.aes-128-ecb(-decrypt)?\.share-(\w+)\.device")]
    draw_bars(panels[1], shares, colour_by((("load", LIGHT),)))
    return figure


def draw_s(papers):
    figure, panels = plt.subplots(2, 2, figsize=(11, 8))
    axes = panels[0][0]
    prepare(axes, "S: AES-128 against size, ordinary memory", "GB/s", log="xy")
    drawn = draw_curves(axes, papers, (
        ("S.aes-128-ecb.there-and-back.device", "device, ECB encryption", GREEN, "-"),
        ("S.aes-128-cbc-decrypt.there-and-back.device", "device, CBC decryption", GREEN, "--"),
        ("S.aes-128-cbc-encrypt.there-and-back.device", "device, CBC encryption", PURPLE, "-"),
        ("S.aes-128-ecb.openssl", "OpenSSL, ECB encryption", RED, "-"),
        ("S.aes-128-cbc-decrypt.openssl", "OpenSSL, CBC decryption", RED, "--"),
        ("S.aes-128-cbc-encrypt.openssl", "OpenSSL, CBC encryption", "#f4a582", "-")))
    legend(axes)
    axes = panels[0][1]
    prepare(axes, "S: ECB decryption, all cores loaded or idle", "GB/s", log="xy")
    draw_curves(axes, papers, (
        ("S.aes-128-ecb-decrypt.there-and-back.device", "device, idle", GREEN, "-"),
        ("S.aes-128-ecb-decrypt.there-and-back-loaded.device", "device, loaded", GREEN, "--o"),
        ("S.aes-128-ecb-decrypt.openssl", "OpenSSL, idle", RED, "-"),
        ("S.aes-128-ecb-decrypt.openssl-loaded", "OpenSSL, loaded", RED, "--o")))
    legend(axes)
    for axes, what, title, unit in (
            (panels[1][0], "keys", "S: RSA keys at once", "seconds"),
            (panels[1][1], "private", "S: RSA private operations at once", "seconds")):
        prepare(axes, title, unit)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")
        axes.minorticks_off()
        for bits, colour in ((1024, GREEN), (2048, BLUE), (4096, PURPLE)):
            name = f"S.rsa-{bits}.{what}"
            drawn |= draw_curves(axes, papers, (
                (f"{name}.device", f"{bits} bits, device", colour, "-"),
                (f"{name}.openssl", f"{bits} bits, OpenSSL", colour, ":")), by="streams")
        if what == "keys":
            axes.set_ylim(axes.get_ylim()[0] / 6)
            legend(axes, loc="lower right", ncols=2)
        else:
            legend(axes)
    return figure if drawn else None


PLOTTERS = {"papers-r.svg": draw_r, "papers-h.svg": draw_h, "papers-m.svg": draw_m,
            "papers-w.svg": draw_w, "papers-s.svg": draw_s}


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="results of one machine")
    parser.add_argument("--out", type=Path, default=PLOTS, help="the folder for the plots")
    parser.add_argument("--api", default="cuda", help="the API of the devices: cuda, opencl, gl or host")
    arguments = parser.parse_args()
    files = arguments.files or newest()
    if not files:
        print("draw_papers: bench/results has no results of papers", file=sys.stderr)
        return
    papers = Papers(files, arguments.api)
    plt.rcParams.update({"svg.hashsalt": "lanecrypt", "svg.fonttype": "none"})
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, draw in PLOTTERS.items():
        figure = draw(papers)
        if figure is None:
            print(f"draw_papers: {name}: no file has its figures", file=sys.stderr)
        else:
            letter = Path(name).stem[-1].upper()
            figure.text(0.01, 0.01, f"{papers.place(letter)}. Diamonds: the paper's", fontsize=6.5, color="#666666")
            figure.tight_layout(rect=(0, 0.03, 1, 1))
            figure.savefig(arguments.out / name, metadata={"Date": None}, facecolor="white")
            print(arguments.out / name)
        plt.close("all")


if __name__ == "__main__":
    main()
