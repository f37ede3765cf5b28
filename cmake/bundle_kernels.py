#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a kernel source with everything that it includes as one text in a C++ source.

An OpenCL driver compiles from memory and knows no folders. So each `#include "..."` is replaced by
the file that it names, which is searched for in the folder of the including file and then in
--root. A file with `#pragma once` is inserted only the first time, any other file every time. If
an `#if` may skip the first time, the file is inserted again, and an `#ifndef` makes the compiler
read it once. `#include LC_CIPHER_FILE(PART)`, of kernels/cipher_forms.inc, inserts
kernels/CIPHER/CIPHER_PART for the --cipher. `#include <...>` and everything else stays as it is.
`#line` directives let the compiler's messages name the real files.

The C++ source defines NAME, NAME_bytes and NAME_sha256 for the --name. GLSL's #line has no file
names, so --glsl leaves these directives out. --instead FILE=PATH inserts PATH where FILE is
included.
"""

import argparse
import hashlib
import os
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]*)"')
CIPHER_FILE = re.compile(r"^([ \t]*#[ \t]*include[ \t]*)LC_CIPHER_FILE\(([\w.]+)\)")
PRAGMA_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b")
IF = re.compile(r"^[ \t]*#[ \t]*if")
ELSE = re.compile(r"^[ \t]*#[ \t]*el(se|if)")
ENDIF = re.compile(r"^[ \t]*#[ \t]*endif\b")
DELIMITER = "kernels"
# Less than the length of a string literal that every compiler must accept.
PIECE_BYTES = 8000
DEEPEST = 32


class BundleError(Exception):
    """A source that cannot be bundled."""


def bundle(entry: Path, instead: dict[str, Path] | None = None,
           with_lines: bool = True, root: Path | None = None,
           cipher: str = "") -> tuple[str, list[Path]]:
    """Returns the text of `entry` with its includes inserted, and all files that were read."""
    lines: list[str] = []
    files: list[Path] = []
    # The files with #pragma once that the compiler has certainly read by now: in all, and within
    # each open #if.
    once: list[set[Path]] = [set()]
    open_files: list[Path] = []

    def place(path: Path, line: int) -> None:
        if with_lines:
            lines.append(f'#line {line} "{path.name}"')

    def inline(path: Path, depth: int) -> None:
        if depth > DEEPEST:
            raise BundleError(f"{path}: files include each other more than {DEEPEST} deep")
        path = path.resolve()
        if any(path in read for read in once):
            return
        content = path.read_text(encoding="utf-8").splitlines()
        is_once = any(PRAGMA_ONCE.match(line) for line in content)
        if is_once and path in open_files:
            return
        has_guard = is_once and (len(once) > 1 or path in files)
        if path not in files:
            files.append(path)
        if has_guard:
            name = f"LC_ONCE_{files.index(path)}"
            lines.extend([f"#ifndef {name}", f"#define {name}"])
            once.append(set())
        open_files.append(path)
        place(path, 1)
        for number, line in enumerate(content, 1):
            named = INCLUDE.match(
                CIPHER_FILE.sub(rf'\1"kernels/{cipher}/{cipher}_\2"', line))
            if named:
                included = (instead or {}).get(named[1], path.parent / named[1])
                if root and not included.is_file():
                    included = root / named[1]
                if not included.is_file():
                    raise BundleError(f"{path}:{number}: no file {named[1]} to include")
                inline(included, depth + 1)
                place(path, number + 1)
            elif PRAGMA_ONCE.match(line):
                lines.append("")
            else:
                if IF.match(line):
                    once.append(set())
                elif ELSE.match(line):
                    once[-1] = set()
                elif ENDIF.match(line):
                    once.pop()
                lines.append(line)
        open_files.pop()
        if has_guard:
            lines.append("#endif")
            within = once.pop()  # read now, or when this file was read before
            once[-1] |= within
        if is_once:
            once[-1].add(path)

    inline(entry, 0)
    return "\n".join(lines) + "\n", files


def pieces(text: str) -> list[str]:
    """Cuts the text at line ends into pieces for string literals."""
    cut, piece, size = [], [], 0
    for line in text.splitlines(keepends=True):
        piece.append(line)
        size += len(line.encode())
        if size > PIECE_BYTES:
            cut.append("".join(piece))
            piece, size = [], 0
    if piece:
        cut.append("".join(piece))
    return cut


def cxx_source(text: str, name: str) -> str:
    """Returns the C++ source that defines the text."""
    if f"){DELIMITER}\"" in text or "\0" in text or "\r" in text:
        raise BundleError("the kernels hold a sequence that no raw string literal can")
    literals = "\n".join(f'R"{DELIMITER}({piece}){DELIMITER}"' for piece in pieces(text))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"""// Written by bundle_kernels.py; do not edit.
#include <cstddef>
extern "C" {{
extern const char {name}[];
extern const std::size_t {name}_bytes;
extern const char {name}_sha256[65];
}}
const char {name}[] =
{literals};
const std::size_t {name}_bytes = sizeof {name} - 1;
const char {name}_sha256[65] =
    "{digest}";
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("entry", type=Path, help="the source to begin with")
    parser.add_argument("output", type=Path, help="the C++ source to write")
    parser.add_argument("--depfile", type=Path, help="write what was read, in make's format")
    parser.add_argument("--root", type=Path, help="where else to look for what is included")
    parser.add_argument("--name", required=True, help="of the text in C++")
    parser.add_argument("--cipher", default="", help="the block cipher of LC_CIPHER_FILE")
    parser.add_argument("--glsl", action="store_true", help="without #line")
    parser.add_argument("--instead", action="append", default=[], metavar="FILE=PATH",
                        help="PATH where FILE is included")
    arguments = parser.parse_args()
    try:
        instead = {name: Path(path) for name, path in (i.split("=", 1) for i in arguments.instead)}
        text, files = bundle(arguments.entry, instead, not arguments.glsl, arguments.root,
                             arguments.cipher)
        source = cxx_source(text, arguments.name)
    except (BundleError, OSError, UnicodeDecodeError) as error:
        print(f"bundle_kernels.py: {error}", file=sys.stderr)
        return 1
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    temporary = arguments.output.with_name(arguments.output.name + ".new")
    temporary.write_text(source, encoding="utf-8")
    os.replace(temporary, arguments.output)
    if arguments.depfile:
        names = " ".join(str(file).replace(" ", "\\ ") for file in files)
        arguments.depfile.write_text(f"{arguments.output}: {names}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
