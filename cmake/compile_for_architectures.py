# SPDX-License-Identifier: Apache-2.0
"""Checks that a CUDA file compiles for each of several architectures.

Usage: compile_for_architectures.py COMPILER ROOT SOURCE ARCHITECTURE... -- NVCC [OPTION...]

The front end of nvcc takes most of the time, and reads nearly the same text for each architecture,
because the files test for the architecture in few places. So the file is preprocessed for each
architecture, which takes little time, and architectures with the same text share one pass of the
front end, for the oldest of them. From that, ptxas makes the code of each one: it knows the
registers, memory and instructions of an architecture.
"""

import subprocess
import sys


def text_for(compiler, root, source, architecture):
    """Returns the file with what it includes, except CUDA's own headers, which nvcc includes."""
    command = [compiler, "-E", "-P", "-x", "c++", "-std=c++17", "-D__CUDACC__",
               f"-D__CUDA_ARCH__={architecture}0", "-I", root, source]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def groups_of(architectures, text_of):
    """Returns lists of the architectures that have the same text, in the given order."""
    groups = {}
    for architecture in architectures:
        groups.setdefault(text_of(architecture), []).append(architecture)
    return list(groups.values())


def options_for(groups):
    """Returns nvcc's options for one pass of its front end per group."""
    return [option for group in groups for option in
            ("-gencode", f"arch=compute_{group[0]},code=[{','.join('sm_' + one for one in group)}]")]


def main(arguments):
    compiler, root, source, *architectures = arguments[:arguments.index("--")]
    nvcc = arguments[arguments.index("--") + 1:]
    groups = groups_of(sorted(architectures, key=int),
                       lambda architecture: text_for(compiler, root, source, architecture))
    return subprocess.run([*nvcc, *options_for(groups), source], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
