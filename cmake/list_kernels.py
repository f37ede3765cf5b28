#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C++ source that compiles the kernels of a set for the emulator and lists them by name.

The list comes from the kernels themselves: the compiler's preprocessor reads them with
LC_LIST_KERNELS, and KERNEL() of kernels/platform.h then leaves a mark before each name.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

KERNEL = re.compile(r"\bLC_KERNEL\s+(\w+)")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("set", help="the name of the set; its kernels are in src/device/host/SET_kernels.h")
    parser.add_argument("output", type=Path, help="the C++ source to write")
    parser.add_argument("--root", type=Path, required=True, help="of the project")
    parser.add_argument("--depfile", type=Path, required=True, help="write what was read, in make's format")
    parser.add_argument("--compiler", required=True)
    arguments = parser.parse_args()
    header = f"device/host/{arguments.set}_kernels.h"
    made = subprocess.run(
        [arguments.compiler, "-E", "-P", "-x", "c++", "-std=c++20", "-DLC_LIST_KERNELS",
         f"-I{arguments.root}", f"-I{arguments.root / 'src'}", "-MD", "-MF", arguments.depfile,
         "-MT", arguments.output, "-"],
        input=f'#include "{header}"\n', stdout=subprocess.PIPE, text=True, check=False)
    names = KERNEL.findall(made.stdout)
    if made.returncode != 0 or not names:
        print(f"list_kernels.py: {header} cannot be read, or has no kernels", file=sys.stderr)
        return 1
    entries = ",\n    ".join(f"ENTRY({name})" for name in names)
    arguments.output.write_text(f"""// Written by list_kernels.py; do not edit.
#include "device/host/host_kernel_entry.h"
#include "kernels/host_thread.h"

// The kernels' functions are this file's alone; what a platform does not call
// stays unused.
#pragma GCC diagnostic ignored "-Wunused-function"

namespace {{
#include "{header}"
}}  // namespace

namespace lanecrypt::device {{
namespace {{

constexpr HostKernelEntry kKernels[] = {{
    {entries}}};

}}  // namespace

std::span<const HostKernelEntry> host_{arguments.set}_kernels() {{ return kKernels; }}

}}  // namespace lanecrypt::device
""", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
