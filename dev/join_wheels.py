#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins the wheels for several versions of CPython to one, and names it after what it needs.

Usage: join_wheels.py FOLDER WHEEL...     by a Python that has the package wheel

The wheels differ only in the extension module. nanobind's stable ABI (_core.abi3.so) needs CPython
3.12, so 3.10 and 3.11 have a file each (_core.cpython-310-x86_64-linux-gnu.so). The wheel that this
program writes to FOLDER has all of these files: an import uses the file that names its exact
version if there is one, and otherwise the one with the stable ABI. `cp310-abi3` in a wheel's name
tells installers that it is for that version and all later ones, and neither for PyPy nor for
CPython without the GIL.

`manylinux_2_N` (PEP 600) in the name says which C library is old enough. The program fails in these
cases: a file needs a library that not every Linux has, other than OpenSSL's libcrypto, which the
package must share with the process and so cannot contain; a run path leads out of the package; the
wheels do not match.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# Libraries of PEP 600's list that a compiler adds by itself.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1",
              "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
OURS = {"liblanecrypt.so.0", "libcrypto.so.3"}
# The glibc release that dev/wheel builds for. No older one is promised.
OLDEST = (2, 28)
# The only file that differs between the wheels.
EXTENSION_MODULE = "lanecrypt/_core.*.so"


def fail(text):
    sys.exit(f"join_wheels: {text}")


def version_of(wheel):
    """Returns (10, "cp310", "cp310") for the wheel of CPython 3.10, and (12, "cp312", "abi3") for
    that of 3.12 and all later versions."""
    _, _, python, abi, _ = wheel.stem.split("-")
    return int(python.removeprefix("cp3")), python, abi


def tags_of(versions):
    """Returns the Python and ABI tags of a wheel for all of these versions, in order, as
    version_of() returns them. The wheel is offered to every version from the first on, so none
    may be missing, and the last one must serve later versions."""
    minors = [minor for minor, _, _ in versions]
    stable = [abi == "abi3" for _, _, abi in versions]
    whole = minors == list(range(minors[0], minors[-1] + 1)) and stable[-1] and not any(stable[:-1])
    if len(versions) > 1 and not whole:
        fail("no version may be missing, and the last must have the stable ABI; these are for "
             + ", ".join(f"{python}-{abi}" for _, python, abi in versions))
    return versions[0][1], versions[-1][2]


def unpack(wheel, root):
    """Unpacks a wheel into the folder `root`. Keeps programs executable, which neither
    extractall() nor `wheel unpack` of Debian 12 does."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(root)
        for entry in archive.infolist():
            (root / entry.filename).chmod(entry.external_attr >> 16 & 0o777)
    return root


def pack(root, tags, folder):
    """Makes a wheel of an unpacked one, with these tags, and returns its path."""
    # `wheel pack` names the wheel after this line, and lists the files again.
    [said] = root.glob("*.dist-info/WHEEL")
    said.write_text(re.sub(r"(?m)^Tag: .*$", f"Tag: {tags}", said.read_text()))
    # Like scikit-build-core, sets fixed times, so that the same source gives the same wheel.
    subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", folder, root], check=True,
                   stdout=subprocess.DEVNULL, env={"SOURCE_DATE_EPOCH": "0", **os.environ})
    [made] = folder.glob(f"*-{tags}.whl")
    return made


def files_of(root):
    """Returns the files of an unpacked wheel, without those that say which Python it is for."""
    own = {*root.glob(EXTENSION_MODULE), *root.glob("*.dist-info/WHEEL"), *root.glob("*.dist-info/RECORD")}
    return {str(path.relative_to(root)): path.read_bytes()
            for path in root.rglob("*") if path.is_file() and path not in own}


def add(root, other):
    """Moves the extension module of an unpacked wheel into another one. All other files must be
    equal."""
    ours, theirs = files_of(root), files_of(other)
    differ = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    if differ:
        fail(f"the wheels are not of one build: {', '.join(differ)}")
    for module in other.glob(EXTENSION_MODULE):
        module.rename(root / module.relative_to(other))


def needs_of(path):
    """Returns the libraries that an ELF file names, its run path, and the newest glibc release of
    which it uses a symbol."""
    text = subprocess.run(["readelf", "--dynamic", "--version-info", "--wide", path], check=True,
                          capture_output=True, text=True).stdout
    libraries = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
    run_path = [part for found in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text)
                for part in found.split(":")]
    releases = [tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_(2\.\d+)", text)]
    return libraries, run_path, max(releases, default=(2, 0))


def look(root):
    """Returns the glibc release that an unpacked wheel needs, and what is wrong with the
    wheel."""
    newest, wrong = OLDEST, []
    for path in sorted(root.rglob("*")):
        if not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
            continue
        name = path.relative_to(root)
        libraries, run_path, release = needs_of(path)
        newest = max(newest, release)
        wrong += [f"{name} needs {other}" for other in sorted(libraries - EVERYWHERE - OURS)]
        wrong += [f"{name} looks in {part}" for part in run_path if not part.startswith("$ORIGIN")]
        print(f"  {name}: glibc {release[0]}.{release[1]}, {path.stat().st_size:,} bytes")
    return newest, wrong


def main():
    folder = pathlib.Path(sys.argv[1])
    wheels = sorted(map(pathlib.Path, sys.argv[2:]), key=version_of)
    python, abi = tags_of([version_of(wheel) for wheel in wheels])
    machine = wheels[-1].stem.rsplit("-", 1)[1].removeprefix("linux_")
    with tempfile.TemporaryDirectory() as scratch:
        *others, root = [unpack(wheel, pathlib.Path(scratch, wheel.stem)) for wheel in wheels]
        for other in others:
            add(root, other)
        newest, wrong = look(root)
        for text in wrong:
            print(f"join_wheels: {text}", file=sys.stderr)
        if wrong:
            return 1
        made = pack(root, f"{python}-{abi}-manylinux_{newest[0]}_{newest[1]}_{machine}", folder)
    print(f"{made}: {made.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
