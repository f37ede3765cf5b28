# SPDX-License-Identifier: Apache-2.0
"""Holds what docs/HACKING.md says about the rooms: which folder may include
which, that only one folder knows CUDA, one OpenCL and one OpenGL, that kernels name
no API, that files carry the licence. Lists long files. Prints each breach as
FILE:LINE: what; exits with 1 when there is one.
"""

import pathlib
import re
import subprocess
import sys

# What a folder may include, beside its own files, <lanecrypt/...> and the
# system's headers. The most specific folder counts.
PUBLIC = "include/lanecrypt"
MAY_INCLUDE = {
    "include": [],
    "kernels": ["kernels/aead", "kernels/aes", "kernels/rsa", "kernels/number"],
    "kernels/aes": ["kernels/aead_layout.h", "kernels/platform.h"],
    "kernels/aead": ["kernels/aes", "kernels/aead_layout.h", "kernels/platform.h"],
    "kernels/number": ["kernels/platform.h"],
    "kernels/rsa": ["kernels/number", "kernels/platform.h"],
    "src/process": [],
    "src/secure": [],
    "src/job": ["src/secure"],
    "src/libcrypto": ["src/job"],
    "src/cpu": ["src/libcrypto", "src/process", "src/secure", "src/job", "kernels"],
    "src/cache": ["src/process"],
    "src/device": ["src/cache", "src/process", "src/job"],
    "src/device/cuda": ["src/device/device.h", "src/job", "kernels"],
    "src/device/opencl": ["src/device/device.h", "src/cache", "src/process", "src/job", "kernels"],
    "src/device/gl": ["src/device/device.h", "src/process", "src/job", "kernels"],
    "src/device/host": ["src/device/device.h", "src/process", "src/job", "kernels"],
    "src/verify": ["src/device/device.h", "src/job", "src/cpu", "src/secure"],
    "src/thread": ["src/device/device.h", "src/process", "src/job"],
    "src/launch": ["src/device/device.h", "src/cpu", "src/process", "src/secure", "src/job",
                   "kernels"],
    "src/work": ["src/launch", "src/thread", "src/device/device.h", "src/cpu", "src/job",
                 "kernels"],
    "src/pipeline": ["src/work", "src/launch", "src/thread", "src/verify",
                     "src/device/device.h", "src/cpu", "src/job"],
    "src/cipher": ["src/pipeline", "src/work", "src/thread", "src/verify", "src/cpu",
                   "src/process"],
    "src/rsa": ["src/thread", "src/verify", "src/device/device.h", "src/cpu", "src/process",
                "src/secure", "src/job", "kernels"],
    "src/primes": ["src/rsa", "src/thread", "src/verify", "src/device/device.h", "src/cpu",
                   "src/process", "src/secure", "src/job", "kernels"],
    "src/place": ["src/primes", "src/rsa", "src/cipher", "src/work", "src/device/survey.h",
                  "src/cache", "src/cpu", "src/job"],
    "src/abi": ["src/place", "src/rsa", "src/work", "src/thread", "src/device/survey.h",
                "src/cpu", "src/libcrypto", "src/process", "src/job"],
    # Status is what libcrypto/ speaks in; the modes are constants.
    "provider": ["src/libcrypto", "src/process", "src/secure", "src/job/status.h",
                 "src/job/mode.h", "src/job/device_list.h",
                 "kernels/aead/gf128.h", "kernels/aead/poly1305_field.h", "kernels/platform.h"],
    "probe": ["src/abi/probe.h"],
    # No part of the C ABI: for its benchmarks, and for its own threads.
    "cli": ["src/abi/device_xor.h", "src/cpu/core_count.h", "src/process/diagnostics.h"],
}
# Where a header may lie that "a/b.h" names.
ROOTS = ("", "src/", "include/", "tests/")
# Headers of an API, and the one folder that may include them.
API_HEADERS = [
    (re.compile(r"(CL/|opencl)"), ["src/device/opencl"], "OpenCL"),
    (re.compile(r"(EGL|GLES\d|GL)/"), ["src/device/gl"], "OpenGL"),
    (re.compile(r"(cuda|nv[a-z]+\.h|curand|cooperative_groups)"), ["src/device/cuda"], "CUDA"),
    (re.compile(r"openssl/"), ["src/libcrypto", "src/cpu", "src/verify", "src/secure", "provider",
                               "cli", "bench", "tests"], "OpenSSL"),
]
# Words of one API that kernels must take from platform.h instead.
API_WORDS = re.compile(
    r"\b(__kernel|__global|__local|__constant|__private|__device__|__global__|__shared__"
    r"|__launch_bounds__|__forceinline__|__restrict__|__syncthreads|threadIdx|blockIdx|blockDim"
    r"|gridDim|get_(local|global|group)_(id|size)|get_num_groups|barrier\s*\(\s*CLK_|uint4|ulong"
    r"|__byte_perm|__funnelshift_[lr]|__shfl\w*|asm\s*volatile)\b")
COMPILER_TESTS = re.compile(r"\b(__CUDACC__|__CUDA_ARCH__|__OPENCL_VERSION__|__OPENCL_C_VERSION__)\b")
# A set-uid program's environment is its caller's; secure_getenv() reads none there.
PLAIN_GETENV = re.compile(r"(?<!secure_)\bgetenv\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# What knows the compilers, and its host side.
COMPILER_AWARE = ("kernels/platform.h", "kernels/number/teams.h", "kernels/host_lane.h")

# From so many lines on a file is listed, for a reader to judge whether it is one idea.
LONG_FILE = 600
SOURCE = {".c", ".h", ".cpp", ".hpp", ".cu", ".py", ".sh"}
CODE = {".c", ".h", ".cpp", ".hpp", ".cu"}
# A path that only one person's machine has.
MACHINE_PATH = re.compile(r"(?<![\w$.}{])/(?:home/(?!USER\b)\w+|root|work|Users/\w+)(?:/|\b)")


def room_of(path):
    """The most specific folder of MAY_INCLUDE that holds the file; '' elsewhere."""
    rooms = [room for room in MAY_INCLUDE if path.startswith(room + "/")]
    return max(rooms, key=len, default="")


def resolve(path, name, files):
    """The file of ours that an include names, or None."""
    beside = str(pathlib.PurePosixPath(path).parent / name)
    for candidate in [beside] + [root + name for root in ROOTS]:
        if candidate in files:
            return candidate
    return None


def check_includes(path, lines, files):
    room = room_of(path)
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        name = found.group(2)
        target = resolve(path, name, files)
        if target is None:
            for pattern, folders, api in API_HEADERS:
                inside = any(path.startswith(folder + "/") for folder in folders)
                if pattern.match(name) and not inside:
                    yield number, f"includes <{name}>: {api} is known to {folders[0]} alone"
            continue
        if not room or target.startswith(PUBLIC + "/"):
            continue
        if target.startswith(room + "/") and room_of(target) == room:
            continue
        if not any(target == allowed or target.startswith(allowed + "/")
                   for allowed in MAY_INCLUDE[room]):
            yield number, f"{room} may not include {target}"


def without_comments(text):
    """The text with comments blanked, line for line."""
    def blank(found):
        return re.sub(r"[^\n]", " ", found.group(0))
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)


def check_file(path, text, files):
    suffix = pathlib.PurePosixPath(path).suffix
    lines = text.splitlines()
    script = text.startswith("#!")
    if suffix in SOURCE or script:
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:40]):
            yield 1, "has no line SPDX-License-Identifier: Apache-2.0"
    if suffix in CODE:
        yield from check_includes(path, lines, files)
        for number, line in enumerate(without_comments(text).splitlines(), 1):
            if not path.startswith("tests/") and PLAIN_GETENV.search(line):
                yield number, "reads the environment without secure_getenv()"
            if path not in COMPILER_AWARE and COMPILER_TESTS.search(line):
                yield number, "kernels/platform.h alone tests for compilers"
            if path.startswith("kernels/") and path not in COMPILER_AWARE:
                word = API_WORDS.search(line)
                if word:
                    yield number, f"{word.group(0)} belongs in kernels/platform.h"
    if suffix in (".md", ".1", ".5", ".7") or script:
        for number, line in enumerate(lines, 1):
            found = MACHINE_PATH.search(line)
            if found:
                yield number, f"names a path of one machine: {found.group(0)}"


def main():
    root = pathlib.Path(__file__).resolve().parents[1]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    files = {name for name in listed if name and (root / name).is_file()}
    breaches, long_files = 0, []
    for path in sorted(files):
        if path.startswith("bench/results/"):
            continue
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, what in check_file(path, text, files):
            print(f"{path}:{number}: {what}")
            breaches += 1
        if pathlib.PurePosixPath(path).suffix in SOURCE and text.count("\n") > LONG_FILE:
            long_files.append(f"{path} ({text.count(chr(10))})")
    if long_files:
        print("long, which is no fault by itself: " + ", ".join(long_files))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
