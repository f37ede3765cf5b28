#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/lab/papers.md from the JSON of `lanecrypt bench papers`.

A table stands between `<!-- table NAME -->` and `<!-- end -->`. The script replaces only the text
between these. If no file has the figures of a table, the script names the table and leaves it as
it is. Figures of the papers that the JSON does not have are in this file.
"""

import argparse
import re
import sys
from pathlib import Path

from paper_results import REPOSITORY, Papers, newest, size_text

DOCUMENT = REPOSITORY / "docs" / "lab" / "papers.md"
MARKED = re.compile(r"(<!-- table (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
DASH = "–"

# R: seconds of the CPU and of the GeForce 6800 GT.
R_6800 = {1: (46.6, 87.5), 2: (44.8, 82.0), 3: (44.2, 201.5), 4: (45.5, 202.4)}
# H, for each GPU: MB/s of XOR without and with transfers, and of AES with transfers.
H_XOR = {"table8": ((181, 80), (672, 335)), "table4": ((1068, 127), (3510, 473)),
         "raster": ((4160, 141), (12249, 475))}
H_AES = {"table8": (6.2, 26), "table4": (11.4, 39), "raster": (45.2, 109)}
# S: the ratio to OpenSSL on one core, at 3.7 MB.
S_TIMES = {"aes-128-ecb": "31", "aes-128-ecb-decrypt": "50", "aes-128-cbc-decrypt": "43",
           "aes-128-cbc-encrypt": "below 0.1"}
S_TOP, S_COUNTS = 3_700_000, tuple(range(1, 16)) + (100, 1000, 10000, 100000)


def figure(value, scale=1):
    """Formats the value with three digits."""
    if value is None:
        return DASH
    value *= scale
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    digits = f"{value:.3g}"
    return digits if "e" not in digits else f"{value:.2e}"


def ratio(value, other):
    if value is None or not other:
        return DASH
    return f"{figure(value / other)}x" if value / other >= 0.001 else "below 0.001x"


def as_published(values):
    """Formats the values with the digits that the paper gives."""
    return " / ".join(DASH if value is None else f"{value:,}" for value in values)


def micro(seconds):
    """Formats seconds in a suitable unit."""
    if seconds is None:
        return DASH
    for unit, scale in (("µs", 1e6), ("ms", 1e3)):
        if seconds * scale < 1000:
            return f"{figure(seconds, scale)} {unit}"
    return f"{figure(seconds)} s"


def r_files(p):
    yield ["file", "bytes", "2007: CPU / 6800 GT", "2007: CPU / 8800 GTS", "disk: CPU", "GPU",
           "copies", "nothing", "RAM disk: CPU", "GPU", "copies", "nothing", "CPU, all cores"]
    for number in range(1, 9):
        rows = [r for _, r in p.named(rf"R\.file-{number}\.(disk|ram)\.(openssl|device)")]
        if not rows:
            continue
        known = next((r["published"] for r in rows if r["name"].endswith("openssl")
                      and "published" in r), None)
        device = next((r["published"] for r in rows if r["name"].endswith("device")
                       and "published" in r), None)
        old = R_6800.get(number)
        def of(where, way):
            return figure(p.value(f"R.file-{number}.{where}.{way}"))
        ways = ("openssl", "device", "copies.device", "null")
        yield [str(number), f"{rows[0]['bytes']:,}", as_published(old) if old else DASH,
               as_published((known, device)) if known else DASH,
               *(of("disk", way) for way in ways), *(of("ram", way) for way in ways),
               of("ram", "openssl-cores")]


def r_old(p):
    yield ["file", "what is in it", "6800 GT, s", "here, s", "GB/s"]
    contents = ("0 to 255, again and again", "all 0xAA", "random, of more and more values",
                "random")
    for number, text in enumerate(contents, 1):
        row = p.result(f"R.file-{number}.ram.table8.gl")
        if row:
            yield [str(number), text, str(R_6800[number][1]), figure(row["value"]),
                   figure(row["bytes"] / row["value"] / 1e9)]


def r_load(p):
    yield ["", "CPU, % of a core", "GPU, W", "more than idle, W"]
    for name, text in (("R.idle", "idle"), ("R.file-6.ram.openssl", "file 6 by OpenSSL, one core"),
                       ("R.file-6.ram.device", "file 6 by the GPU"),
                       ("R.card.device", "the GPU, data on the card")):
        cpu = p.value(f"{name}.cpu-over-time")
        if cpu is not None:
            yield [text, figure(cpu), figure(p.value(f"{name}.power")),
                   figure(p.value(f"{name}.power-added"))]


def r_grid(p):
    rows = sorted(((r["value"], *map(int, m.groups())) for m, r in
                   p.named(r"R\.grid\.(\d+)x(\d+)x(\d+)\.device")), reverse=True)
    yield ["blocks", "threads", "16-byte blocks a thread", "GB/s"]
    paper = [row for row in rows if row[1:] == (360, 512, 10)]
    picked = rows[:5] + [row for row in paper if row not in rows[:5]]
    picked += [row for row in rows[-1:] if row not in picked]
    for value, *grid in picked:
        yield [*map(str, grid), figure(value)]


def h_xor(p):
    sizes = sorted({r["bytes"] for _, r in p.named(r"H\.xor\..*")})
    yield ["", "6600 GT: alone / there and back", "7900 GT",
           *(f"here, {size_text(size)}" for size in sizes)]
    for way in ("table8", "table4", "raster", "integer"):
        def of(size, way=way):
            return " / ".join(figure(p.value(f"H.xor.{way}.{how}.gl", bytes=size), 1000)
                              for how in ("card", "there-and-back"))
        if p.result(f"H.xor.{way}.card.gl"):
            known = list(map(as_published, H_XOR.get(way, ()))) or [DASH, DASH]
            yield [f"`{way}`", *known, *[of(size) for size in sizes]]
    if p.result("H.xor.core"):
        yield ["a core", DASH, DASH,
               *[figure(p.value("H.xor.core", bytes=size), 1000) for size in sizes]]


def h_aes(p):
    yield ["", "6600 GT", "7900 GT", "here: `multi`", "`hgather`", "`sgather`",
           "on the card: `multi`"]
    base = "H.aes-128-ecb."
    for way, text in (("compute", "compute shaders"), ("integer", "integer fragment shaders")):
        if p.result(f"{base}{way}.card.gl"):
            yield [text, DASH, DASH, figure(p.value(f"{base}{way}.there-and-back.gl"), 1000), DASH,
                   DASH, figure(p.value(f"{base}{way}.card.gl"), 1000)]
    for way, known in H_AES.items():
        for form in ("rot", "norot"):
            if p.result(f"{base}{way}-multi-{form}.card.gl"):
                old = [str(value) if form == "rot" else DASH for value in known]
                yield [f"`{way}`, `{form}`", *old,
                       *[figure(p.value(f"{base}{way}-{gather}-{form}.there-and-back.gl"), 1000)
                         for gather in ("multi", "hgather", "sgather")],
                       figure(p.value(f"{base}{way}-multi-{form}.card.gl"), 1000)]
    if p.result(f"{base}openssl"):
        yield ["OpenSSL, a core", "46", "46", figure(p.value(f"{base}openssl"), 1000), DASH, DASH,
               DASH]


def h_chip(p):
    yield ["", ""]
    for name, text, unit in (
            ("H.multiprocessors.of-the-chip.gl", "multiprocessors of the chip", ""),
            ("H.multiprocessors.of-fragments.gl", "of them draw fragments", ""),
            ("H.aes-128-ctr.compute.card.gl", "AES-128-CTR, compute shaders, on the card", " GB/s"),
            ("H.aes-128-ctr.integer.card.gl", "AES-128-CTR, integer fragment shaders, on the card",
             " GB/s")):
        if p.result(name):
            yield [text, figure(p.value(name)) + unit]


def h_packets(p):
    ways = ("compute", "integer", "raster-multi-rot", "table8-multi-rot", "table4-multi-rot")
    name = "H.aes-128-ecb.{}.there-and-back.gl-packets"
    yield ["packet", "OpenSSL, a core", *(f"`{way.split('-')[0]}`" for way in ways)]
    for size, openssl in p.curve("H.aes-128-ecb.openssl-packets"):
        yield [size_text(size), figure(openssl, 1000),
               *(figure(p.value(name.format(way), bytes=size), 1000) for way in ways)]


def h_idle(p):
    yield ["", "% of its core left to the other task"]
    for match, result in p.named(r"H\.idle\.(\S+)\.gl"):
        yield [f"`{match[1]}`", figure(result["value"])]


def m_sizes(p):
    yield ["bytes", *(f"AES-{bits} {what}" for bits in (128, 256)
                      for what in ("kernel", "total", "OpenSSL", "total / OpenSSL"))]
    # The command measures some sizes twice. The first result counts.
    for size in sorted({size for size, _ in p.curve("M.aes-128-ecb.kernel.device")}):
        cells = []
        for bits in (128, 256):
            kernel, total, openssl = (p.value(f"M.aes-{bits}-ecb.{how}", bytes=size)
                                      for how in ("kernel.device", "total.device", "openssl"))
            cells += [figure(kernel), figure(total), figure(openssl), ratio(total, openssl)]
        yield [size_text(size), *cells]


def m_peak(p):
    size = 8 << 20
    yield ["8 MiB", "2007", "here, kernel", "here, with the copies", "one round a pass, OpenGL"]
    for bits, known in ((128, "8.28 Gbit/s, 19.6x a core"), (256, "6.65 Gbit/s")):
        base = f"M.aes-{bits}-ecb."
        if p.result(f"{base}total.device", bytes=size):
            core = p.value(f"{base}openssl", bytes=size)
            def of(how, base=base, core=core):
                value = p.value(base + how, bytes=size)
                return DASH if value is None else (
                    f"{figure(value, 8)} Gbit/s, {ratio(value, core)}")
            yield [f"AES-{bits}", known, of("kernel.device"), of("total.device"),
                   of("total.table8.gl")]


def w_packets(p):
    yield ["100,000 packets of 8 KiB, MB/s", "2010", "encryption", "decryption"]
    for how, text, known in (
            ("packet-by-packet.device", "GPU, one by one", "13.47"),
            ("packets-at-once.device", "GPU, all at once", DASH),
            ("packets.openssl", "CPU, one core", "66.21")):
        both = [p.value(f"W.aes-128-ecb{way}.{how}") for way in ("", "-decrypt")]
        if any(value is not None for value in both):
            yield [text, known, *(figure(value, 1000) for value in both)]
    for part, text, known in (("upload", "upload, % of the device's time", DASH),
                              ("kernel", "kernel", "87"), ("download", "download", DASH)):
        both = [p.value(f"W.aes-128-ecb{way}.share-{part}.device") for way in ("", "-decrypt")]
        if any(value is not None for value in both):
            yield [text, known, *map(figure, both)]
    right = p.value("W.nist-examples.device")
    if right is not None:
        yield ["NIST's examples right, of 24", "all", figure(right), ""]


def s_sizes(p):
    cases = ("aes-128-ecb", "aes-128-ecb-decrypt", "aes-128-cbc-encrypt", "aes-128-cbc-decrypt")
    yield ["bytes", "ECB encryption: GPU / core", "loaded", "ECB decryption", "loaded",
           "CBC encryption", "loaded", "CBC decryption", "loaded"]
    for size in sorted({size for case in cases for size, _ in p.curve(f"S.{case}.openssl")}):
        cells = []
        for case in cases:
            for suffix in ("", "-loaded"):
                both = [p.value(f"S.{case}.{how}{suffix}{device}", bytes=size)
                        for how, device in (("there-and-back", ".device"), ("openssl", ""))]
                cells.append(" / ".join(map(figure, both)) if any(both) else DASH)
        yield [f"{size:,}" if size % 1024 else size_text(size), *cells]


def s_summary(p):
    yield ["", "2013: times a core at 3.7 MB", "here", "here, CPU loaded", "at the largest",
           "from which size on it wins", "CPU use at the largest, % of a core"]
    for case, known in S_TIMES.items():
        rows = {r["bytes"]: r["over_openssl"] for _, r in
                p.named(rf"S\.{case}\.there-and-back\.device") if "over_openssl" in r}
        if not rows:
            continue
        loaded = p.result(f"S.{case}.there-and-back-loaded.device", bytes=S_TOP)
        wins = [size for size in rows if all(rows[s] > 1 for s in rows if s >= size)]
        top = max(rows)
        yield [case, known + ("" if "below" in known else "x"),
               ratio(rows.get(S_TOP), 1), ratio(loaded and loaded["over_openssl"], 1),
               f"{ratio(rows[top], 1)} ({size_text(top)})",
               size_text(min(wins)) if wins else "none measured",
               figure(p.value(f"S.{case}.cpu.device", bytes=top))]


def s_keys(p):
    yield ["bits", "keys", "2013: GPU / CPU, s", "here: GPU", "CPU, one core", "CPU, all cores",
           "CPU time of the GPU's, s"]
    for bits in (1024, 2048, 4096):
        name = f"S.rsa-{bits}.keys"
        for count in (1, 2, 5, 10, 100):
            device = p.result(f"{name}.device", streams=count)
            if not device:
                continue
            core = p.result(f"{name}.openssl", streams=count)
            reckoned = p.result(f"{name}.openssl-reckoned", streams=count)
            row = core or reckoned or {}
            known = (as_published((device["published"], row["published"]))
                     if "published" in device and "published" in row else DASH)
            yield [str(bits), str(count), known, micro(device["value"]),
                   ("" if core else "about ") + micro(row.get("value")),
                   micro(p.value(f"{name}.openssl-cores", streams=count)),
                   figure(p.value(f"{name}-cpu.device", streams=count))]


def s_private(p):
    sizes = (1024, 2048, 4096)
    yield ["at once", *(f"RSA-{bits}: {what}" for bits in sizes for what in ("GPU", "core"))]
    known = [p.result(f"S.rsa-{bits}.private.{how}", streams=1) for bits in sizes
             for how in ("device", "openssl")]
    if any(known):
        yield ["2013: 1", *(f"{row['published']} s" if row and "published" in row else DASH
                            for row in known)]
    for count in S_COUNTS:
        cells = []
        for bits in sizes:
            name = f"S.rsa-{bits}.private"
            core = p.value(f"{name}.openssl", streams=count)
            about = p.value(f"{name}.openssl-reckoned", streams=count)
            cells += [micro(p.value(f"{name}.device", streams=count)),
                      micro(core) if core or not about else "about " + micro(about)]
        if any(cell != DASH for cell in cells):
            yield [f"{count:,}", *cells]


TABLES = {"R-files": r_files, "R-old": r_old, "R-load": r_load, "R-grid": r_grid,
          "H-xor": h_xor, "H-aes": h_aes, "H-chip": h_chip, "H-packets": h_packets,
          "H-idle": h_idle, "M-sizes": m_sizes, "M-peak": m_peak, "W-packets": w_packets,
          "S-sizes": s_sizes, "S-summary": s_summary, "S-keys": s_keys, "S-private": s_private}


def markdown(rows):
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines) if body else ""


def fill(text, papers):
    """Returns the text with its tables filled, and the names of those without figures."""
    empty = []

    def replace(match):
        name = match[2]
        if name == "machine":
            content = papers.place(quote="`") + ".\n"
        elif name in TABLES:
            content = markdown(list(TABLES[name](papers)))
        else:
            sys.exit(f"write_papers: there is no table '{name}'")
        if not content:
            empty.append(name)
            return match[0]
        return match[1] + content + match[4]

    return MARKED.sub(replace, text), empty


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="results of one machine")
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    parser.add_argument("--api", default="cuda", help="the API of the devices: cuda, opencl, gl or host")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; fail if the document has other figures")
    arguments = parser.parse_args()
    files = arguments.files or newest()
    if not files:
        print("write_papers: bench/results has no results of papers", file=sys.stderr)
        return
    before = arguments.document.read_text(encoding="utf-8")
    after, empty = fill(before, Papers(files, arguments.api))
    for name in empty:
        print(f"write_papers: {name}: no file has its figures", file=sys.stderr)
    if arguments.check:
        sys.exit("write_papers: the document has other figures" if after != before else 0)
    arguments.document.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
