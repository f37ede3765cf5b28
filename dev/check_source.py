# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of CONTRIBUTING.md about folders: which folder may include which, that
only one folder knows CUDA, one OpenCL and one OpenGL, that kernels name no API, that files
carry the licence, and that each is text of a kind that the project has. Lists long files and
functions, and folders of many files. Prints each breach as FILE:LINE: what. Exits with 1 if
there is one.
"""

import collections
import pathlib
import re
import subprocess
import sys

# MAY_INCLUDE lists what a folder may include in addition to its own files, <lanecrypt/...> and
# the system's headers. The most specific folder counts. A folder may name whole folders only if
# they come before it, so that there are no cycles. Of other folders it names single headers.
PUBLIC = "include/lanecrypt"
# Headers of the library's job structures that contain only data.
JOB_DATA = ["src/job/cipher/block_cipher.h", "src/job/cipher/counter.h",
            "src/job/cipher/cipher_info.h"]
# How all programs print text that comes from outside.
PRINTABLE = "src/process/printable.h"
# The headers of the command that lanecrypt-bench uses: those of lanecrypt_command_base
# (cli/CMakeLists.txt).
COMMAND_BASE = ["cli/console.h", "cli/failure.h", "cli/interrupt.h", "cli/program.h", "cli/provider_module.h", "cli/subcommand.h",
                "cli/crypt/block_cipher_mode.h", "cli/crypt/device_engine.h",
                "cli/crypt/pipeline.h", "cli/io/file_descriptor.h", "cli/io/output.h"] + JOB_DATA
# What every folder of benchmarks may include.
MEASURING = ["bench/load", "bench/report", "src/cpu/core_count.h"] + COMMAND_BASE
# The block ciphers other than AES. Each has a folder with its key expansion and rounds.
OTHER_CIPHERS = sorted(f"kernels/{path.parent.name}" for path in
                       pathlib.Path(__file__).parent.parent.glob("kernels/*/*_key.h")
                       if path.parent.name != "aes")
MAY_INCLUDE = {
    "include": [],
    "examples": [],
    "kernels/block": ["kernels/aead_layout.h", "kernels/platform.h"],
    "kernels/aead": ["kernels/block", "kernels/aead_layout.h", "kernels/platform.h"],
    "kernels/aes": ["kernels/aead", "kernels/block", "kernels/aead_layout.h", "kernels/platform.h"],
    **{cipher: ["kernels/aes", "kernels/block", "kernels/platform.h"] for cipher in OTHER_CIPHERS},
    "kernels/hash": ["kernels/platform.h"],
    "kernels/slh": ["kernels/hash", "kernels/platform.h"],
    "kernels/number": ["kernels/platform.h"],
    "kernels/rsa": ["kernels/number", "kernels/platform.h"],
    "kernels/ml_dsa": ["kernels/hash", "kernels/platform.h"],
    "kernels": ["kernels/aead", "kernels/aes", "kernels/block", "kernels/hash", "kernels/ml_dsa",
                "kernels/slh", "kernels/rsa", "kernels/number"] + OTHER_CIPHERS,
    "src/process": [],
    "src/secure": [],
    "src/job": ["src/secure"],
    "src/job/cipher": ["src/job", "src/secure"],
    "src/libcrypto": ["src/job"],
    "src/cpu": ["src/libcrypto", "src/process", "src/secure", "src/job", "kernels"],
    "src/cache": ["src/process"],
    "src/device": ["src/cache", "src/process", "src/job"],
    "src/device/cuda": ["src/device/device.h", "src/device/open_once.h", "src/process", "src/job", "kernels"],
    "src/device/opencl": ["src/device/device.h", "src/device/open_once.h", "src/cache", "src/process", "src/job", "kernels"],
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
    "src/batch": ["src/thread", "src/device/device.h", "src/cpu/core_count.h", "src/process",
                  "src/secure", "src/job"],
    "src/rsa": ["src/batch", "src/thread", "src/verify", "src/device/device.h", "src/cpu", "src/process",
                "src/secure", "src/job", "kernels"],
    "src/slh": ["src/batch", "src/thread", "src/verify", "src/device/device.h", "src/cpu", "src/secure", "src/job", "kernels"],
    "src/ml_dsa": ["src/batch", "src/verify", "src/device/device.h", "src/cpu", "src/secure", "src/job", "kernels"],
    "src/hash": ["src/batch", "src/thread", "src/verify", "src/device/device.h", "src/cpu", "src/secure", "src/job", "kernels"],
    "src/primes": ["src/rsa", "src/batch", "src/thread", "src/verify", "src/device/device.h", "src/cpu",
                   "src/process", "src/secure", "src/job", "kernels"],
    "service/wire": [],
    "service/client": ["service/wire", "src/batch/batch_choice.h", "src/cpu/core_count.h", "src/process", "src/secure"],
    "src/remote": ["service/client", "service/wire", "src/primes", "src/rsa", "src/ml_dsa", "src/slh", "src/batch",
                   "src/thread", "src/cpu", "src/process", "src/secure", "src/job"],
    "src/placement": ["src/primes", "src/rsa", "src/hash", "src/slh", "src/ml_dsa", "src/cipher", "src/work", "src/device/device_enumeration.h",
                  "src/cache", "src/cpu", "src/process", "src/job"],
    "src/abi": ["src/placement", "src/remote", "service/wire/operation_kind.h", "src/rsa", "src/hash", "src/slh", "src/ml_dsa", "src/work", "src/thread", "src/device/device_enumeration.h",
                "src/cpu", "src/libcrypto", "src/process", "src/job"],
    "service/daemon": ["service/wire", "src/abi/rsa_primes.h", "src/process", "src/secure"],
    "service": ["service/wire", "service/client", "service/daemon"],
    "python/src": ["src/secure"],
    "provider/cipher": ["service/client/offload_result.h", "provider/dispatch.h", "provider/fallback.h", "provider/find_param.h",
                        "provider/device_health.h", "provider/provider.h", "provider/refusal.h",
                        "src/libcrypto/forward.h", "src/secure",
                        "src/job/cipher/block_cipher.h", "src/job/cipher/counter.h",
                        "src/job/cipher/cipher_info.h", "src/job/cipher/stealing.h", "src/job/placement.h",
                        "src/cpu/tag_arithmetic.h", "kernels/aead/gf128.h",
                        "kernels/aead/poly1305_field.h"],
    "provider/wait": ["provider/dispatch.h", "service/client", "src/process", "src/secure"],
    "provider/rsa": ["provider/wait", "provider/dispatch.h", "provider/fallback.h", "provider/device_health.h",
                     "provider/program_random.h", "provider/provider.h", "provider/refusal.h", "provider/service.h",
                     "service/client", "src/process", "src/secure"],
    "provider/pq": ["provider/wait", "provider/dispatch.h", "provider/fallback.h", "provider/device_health.h",
                    "provider/program_random.h", "provider/provider.h", "provider/refusal.h", "provider/service.h",
                    "service/client", "service/wire", "src/cpu/slh/slh_hash.h", "src/process", "src/secure"],
    # libcrypto/ reports errors as a Status.
    "provider": ["provider/cipher", "provider/wait", "provider/rsa", "provider/pq", "service/client", "src/libcrypto", "src/process", "src/secure",
                 "src/job/status.h", "src/job/device_list.h", "src/job/cipher/block_cipher.h", "src/job/cipher/cipher_info.h"],
    "probe": ["src/abi/probe.h"],
    # Rings read and write the chunks of the pipeline.
    "cli/io": ["cli/failure.h", "cli/keys/hex.h", "cli/crypt/pipeline.h"],
    "cli/keys": ["cli/console.h", "cli/failure.h", "cli/io/file_access.h", "cli/io/file_descriptor.h", "cli/io/output.h", "cli/crypt/block_cipher_mode.h",
                 "src/process/folder_trust.h"],
    # Headers outside of the C ABI: the command counts cores for its own threads, computes counter
    # blocks of CTR, and queries the properties of modes.
    "cli/crypt": ["cli/io", "cli/keys", "cli/console.h", "cli/failure.h", "cli/interrupt.h",
                  "cli/progress_line.h", "cli/threads.h", "src/cpu/core_count.h"] + JOB_DATA,
    "cli/hash": ["cli/crypt/device_engine.h", "cli/crypt/report.h", "cli/io", "cli/keys", "cli/console.h",
                 "cli/failure.h"],
    "cli/service": ["service/wire", "cli/console.h", "cli/failure.h", "cli/program.h", "cli/subcommand.h",
                    "cli/io/file_descriptor.h", PRINTABLE],
    "cli/run": ["cli/service", "cli/console.h", "cli/failure.h", "cli/program.h", "cli/provider_module.h",
                "cli/subcommand.h", "cli/io/file_descriptor.h", PRINTABLE, "src/process/close_from.h",
                "src/process/folder_trust.h"],
    "cli/slh": ["cli/io", "cli/keys", "cli/crypt/device_engine.h", "cli/hash/checksum_line.h", "cli/hash/hashlib_name.h", "cli/arguments.h", "cli/console.h",
                "cli/failure.h", "cli/interrupt.h", "cli/program.h", "cli/subcommand.h"],
    "cli": ["cli/io", "cli/keys", "cli/crypt", "cli/hash", "cli/service", "cli/run",
            "cli/slh", PRINTABLE, "src/process/new_thread.h"] + JOB_DATA,
    "bench/load": ["bench/report/results.h", "src/cpu/core_count.h"] + COMMAND_BASE,
    "bench/report": ["bench/load", "src/cpu/core_count.h"] + COMMAND_BASE,
    "bench/aes": MEASURING + ["src/process/diagnostics.h"],
    "bench/hash": MEASURING,
    "bench/host": MEASURING + ["bench/aes/devices.h"],
    "bench/rsa": MEASURING,
    "bench/pq": MEASURING,
    # Clients of the service do not know it: they are ordinary programs.
    "bench/service": [],
    # A device of the benchmark, which opens a context by internal functions of the library.
    "bench/papers/gl2007": ["src/abi/boundary.h", "src/device/gl", "src/device/device_enumeration.h", "kernels"],
    "bench/papers": MEASURING + ["bench/papers/gl2007/gl2007.h", "bench/rsa"],
    # rsa_timing measures the kernels from inside the library.
    "bench": MEASURING + ["bench/aes", "bench/hash", "bench/host", "bench/rsa", "bench/pq", "bench/papers",
                           "src"],
    "fuzz": ["src/abi/rsa_primes.h", "service/wire", "service/client", "service/daemon", "src/process", "src/secure"],
}
# The folders that are searched for "a/b.h".
ROOTS = ("", "src/", "include/", "tests/")
# The headers of each API, and the one folder that may include them.
API_HEADERS = [
    (re.compile(r"(CL/|opencl)"), ["src/device/opencl"], "OpenCL"),
    (re.compile(r"(EGL|GLES\d|GL)/"), ["src/device/gl"], "OpenGL"),
    (re.compile(r"(cuda|nv[a-z]+\.h|curand|cooperative_groups)"), ["src/device/cuda"], "CUDA"),
    (re.compile(r"(nanobind/|Python\.h)"), ["python/src"], "Python"),
    (re.compile(r"openssl/"), ["src/libcrypto", "src/cpu", "src/verify", "src/secure", "provider",
                               "cli", "bench", "tests", "examples"], "OpenSSL"),
]
# Words of one API, which kernels must take from platform.h instead.
API_WORDS = re.compile(
    r"\b(__kernel|__global|__local|__constant|__private|__device__|__global__|__shared__"
    r"|__launch_bounds__|__forceinline__|__restrict__|__syncthreads|threadIdx|blockIdx|blockDim"
    r"|gridDim|get_(local|global|group)_(id|size)|get_num_groups|barrier\s*\(\s*CLK_|uint4|ulong"
    r"|__byte_perm|__funnelshift_[lr]|__shfl\w*|asm\s*volatile)\b")
COMPILER_TESTS = re.compile(r"\b(__CUDACC__|__CUDA_ARCH__|__OPENCL_VERSION__|__OPENCL_C_VERSION__)\b")
# The environment of a set-user-ID program is under its caller's control. secure_getenv() returns
# nothing there.
PLAIN_GETENV = re.compile(r"(?<!secure_)\bgetenv\s*\(")
# C functions that call back, and which of their arguments is the callback. An exception that
# passes through C ends the process.
CALL_BACK = {"ASYNC_WAIT_CTX_set_wait_fd": 4, "EVP_PKEY_CTX_set_cb": 1, "EVP_PKEY_export": 2,
             "OSSL_PROVIDER_do_all": 1, "OSSL_PROVIDER_get_capabilities": 2, "bsearch": 4,
             "dl_iterate_phdr": 0, "pthread_create": 2, "qsort": 3}
GUARD = re.compile(r"\b(called_from_c|c_function)<")
UNGUARDED_DISPATCH = re.compile(r"reinterpret_cast<Function>\((?!\s*called_from_c<)")
# Scripts must check what they fetch.
OPTIONS = r"(?:\s+(?:-\S+|\"\$\S*\"))*"
PIP = re.compile(r"(?:\bpip3?|\"\$\{pip\[@\]\}\")" + OPTIONS + r"\s+(?:install|download|wheel)\b[^|;&\n]*")
CARGO = re.compile(r"\bcargo\"?" + OPTIONS + r"\s+(?:run|build|fetch|metadata)\b[^|;&\n]*")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# The files that may test which compiler reads them.
COMPILER_AWARE = ("kernels/platform.h", "kernels/number/subgroup.h", "kernels/host_thread.h")

# Limits for lines of a file, lines of a function and files of a folder. Larger ones are listed,
# so that a reader can judge whether each has one purpose.
LONG_FILE = 600
LONG_FUNCTION = 100
LARGE_FOLDER = 20
SOURCE = {".c", ".h", ".inc", ".cpp", ".hpp", ".cu", ".py", ".sh"}
CODE = {".c", ".h", ".inc", ".cpp", ".hpp", ".cu"}
PRAGMA_ONCE = re.compile(r"^#pragma once$", re.M)
HAS_GUARD = re.compile(r"^#pragma once$|^#ifndef (\w+)\n#define \1$", re.M)
# The other kinds of files that the project has. Files that a compiler or an editor leaves behind
# are of none of these kinds. Names without a suffix are scripts, or are in KNOWN_NAMES.
OTHER_KINDS = {".1", ".7", ".8", ".clang-format", ".git-blame-ignore-revs", ".cmake", ".conf", ".gitignore", ".glsl", ".in",
               ".json", ".lock", ".map", ".md", ".mjs", ".php", ".pl", ".preset", ".rb", ".rs", ".socket",
               ".svg", ".toml", ".txt", ".typed"}
KNOWN_NAMES = {"LICENSE"}
# A path that exists only on one person's machine.
MACHINE_PATH = re.compile(r"(?<![\w$.}{])/(?:home/(?!USER\b)\w+|root|work|Users/\w+)(?:/|\b)")


def room_of(path):
    """Returns the most specific folder of MAY_INCLUDE that holds the file, or ''."""
    rooms = [room for room in MAY_INCLUDE if path.startswith(room + "/")]
    return max(rooms, key=len, default="")


def resolve(path, name, files):
    """Returns the file of this project that an include names, or None."""
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
    """Returns the text with comments blanked, line by line."""
    def blank(found):
        return re.sub(r"[^\n]", " ", found.group(0))
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)


def arguments_at(code, begin):
    """Returns the arguments of a call whose parenthesis opens just before `begin`."""
    arguments, depth, start = [], 0, begin
    for at in range(begin, len(code)):
        if code[at] in "([{":
            depth += 1
        elif depth and code[at] in ")]}":
            depth -= 1
        elif not depth and code[at] in ",)":
            arguments.append(code[start:at].strip())
            start = at + 1
            if code[at] == ")":
                break
    return arguments


def check_callbacks(path, code):
    """Yields functions given to C code that could throw: neither guarded nor noexcept. `code` has
    no comments."""
    for found in re.finditer(r"\b(" + "|".join(CALL_BACK) + r")\(", code):
        arguments = arguments_at(code, found.end())
        place = CALL_BACK[found.group(1)]
        if len(arguments) <= place:
            continue
        # The argument may also be `x == nullptr ? nullptr : function`.
        function = re.split(r"[?:]\s+", arguments[place])[-1].lstrip("&+")
        name = re.escape(function)
        is_safe = (function == "nullptr" or GUARD.match(function)
                   or re.search(rf"OSSL_CALLBACK \*{name}\b", code)
                   or re.search(rf"\b{name}\s*(=\s*\[\]\s*)?\([^()]*\)\s*noexcept\b", code))
        if not is_safe:
            yield (code.count("\n", 0, found.start()) + 1,
                   f"{found.group(1)}() calls a function that could throw: {function}")
    if not path.startswith("provider/"):
        return
    for found in UNGUARDED_DISPATCH.finditer(code):
        yield (code.count("\n", 0, found.start()) + 1,
               "OpenSSL calls a function that could throw: use called_from_c<...>")


def check_fetching(text):
    """Yields commands of a script that fetch something and do not check it."""
    # A command with its continuation lines counts as one.
    whole = re.sub(r"\\\n", "  ", text)
    for number, line in enumerate(whole.splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        for found in PIP.finditer(line):
            if "--require-hashes" not in found.group(0) and "--no-index" not in found.group(0):
                yield number, "pip fetches what it does not check: --require-hashes or --no-index"
        for found in CARGO.finditer(line):
            if "--locked" not in found.group(0):
                yield number, "cargo fetches what it does not check: --locked"


def check_file(path, text, files):
    suffix = pathlib.PurePosixPath(path).suffix
    lines = text.splitlines()
    script = text.startswith("#!")
    if suffix in SOURCE or script:
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:40]):
            yield 1, "has no line SPDX-License-Identifier: Apache-2.0"
    if re.match(r"#!.*sh\b", text):
        yield from check_fetching(text)
    if suffix == ".h" and not HAS_GUARD.search(text):
        yield 1, "has no guard: a file that is included several times ends in .inc"
    if suffix == ".inc" and PRAGMA_ONCE.search(text):
        yield 1, "has a guard: a file that is included once ends in .h"
    if suffix in CODE:
        yield from check_includes(path, lines, files)
        if not path.startswith("tests/"):
            yield from check_callbacks(path, without_comments(text))
        for number, line in enumerate(without_comments(text).splitlines(), 1):
            if not path.startswith("tests/") and PLAIN_GETENV.search(line):
                yield number, "reads the environment without secure_getenv()"
            if path not in COMPILER_AWARE and COMPILER_TESTS.search(line):
                yield number, "kernels/platform.h alone tests for compilers"
            if path.startswith("kernels/") and path not in COMPILER_AWARE:
                word = API_WORDS.search(line)
                if word:
                    yield number, f"{word.group(0)} belongs in kernels/platform.h"
    if suffix in (".md", ".1", ".7", ".8") or suffix in CODE or script:
        for number, line in enumerate(lines, 1):
            found = MACHINE_PATH.search(line)
            if found:
                yield number, f"names a path of one machine: {found.group(0)}"


def check_kind(path, text):
    """Returns what is wrong with the kind of a file. `text` is None if the file is not text."""
    name = pathlib.PurePosixPath(path)
    # A name such as .gitignore counts as a suffix.
    suffix = name.suffix or (name.name if name.name.startswith(".") else "")
    if text is None:
        yield 1, "is no text"
    elif suffix:
        if suffix not in SOURCE | OTHER_KINDS:
            yield 1, f"is of no kind that the project has: {suffix}"
    elif name.name not in KNOWN_NAMES and not text.startswith("#!"):
        yield 1, "has no ending, and is no script"


def check_arrows(may_include):
    """Returns the folders that a folder names although they do not come before it."""
    before = set()
    for room, allowed in may_include.items():
        yield from (f"{room} names {other}, which does not stand before it"
                    for other in allowed if other in may_include and other not in before)
        before.add(room)


def long_functions(text):
    """Yields the first line and the length of each long function. The code must be formatted."""
    first, number_of_first, has_body = None, 0, False
    for number, line in enumerate(text.splitlines()):
        if first is None and re.match(r"[A-Za-z].*\(", line):
            first, number_of_first, has_body = line, number, False
        has_body = has_body or line.endswith("{")
        if line.startswith("}"):
            if first is not None and number - number_of_first >= LONG_FUNCTION:
                yield first, number - number_of_first + 1
            first = None
        elif not has_body and (not line or line.endswith(";")):
            first = None


def main():
    root = pathlib.Path(__file__).resolve().parents[1]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    files = {name for name in listed if name and (root / name).is_file()}
    breaches, listed_ones, in_folder = 0, [], collections.Counter()
    for what in check_arrows(MAY_INCLUDE):
        print(f"dev/check_source.py: {what}")
        breaches += 1
    for path in sorted(files):
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            text = None
        for number, what in check_kind(path, text):
            print(f"{path}:{number}: {what}")
            breaches += 1
        if text is None or path.startswith("bench/results/"):
            continue
        for number, what in check_file(path, text, files):
            print(f"{path}:{number}: {what}")
            breaches += 1
        suffix = pathlib.PurePosixPath(path).suffix
        if suffix not in SOURCE:
            continue
        in_folder[str(pathlib.PurePosixPath(path).parent)] += 1
        if text.count("\n") > LONG_FILE:
            listed_ones.append(f"{path} ({text.count(chr(10))} lines)")
        if suffix in CODE and not path.startswith("tests/"):
            listed_ones += [f"{path}: {first.split('(')[0].split()[-1]}() ({length} lines)"
                            for first, length in long_functions(text)]
    listed_ones += [f"{folder}/ ({count} files)" for folder, count in sorted(in_folder.items())
                    if count > LARGE_FOLDER]
    if listed_ones:
        print("large, which is no fault by itself: " + ", ".join(listed_ones))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
