#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names wheels after what they need: manylinux_2_N (PEP 600) says which C library is old enough.

Usage: name_wheel.py FOLDER WHEEL...

Copies each wheel into FOLDER with that tag in its name and in its metadata. Fails where a file needs
a library that not every Linux has, other than OpenSSL's libcrypto, which the package must share with
the process and so cannot bring, or where a run path leads out of the package.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# Of PEP 600's list, those that a compiler names by itself.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1",
              "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
OURS = {"liblanecrypt.so.0", "libcrypto.so.3"}
# The release of glibc that dev/wheel builds for, so no older one is promised.
OLDEST = (2, 28)


def needs_of(path):
    """The libraries that an ELF file names, its run path, and the newest release of glibc of which
    it uses a symbol."""
    text = subprocess.run(["readelf", "--dynamic", "--version-info", "--wide", path], check=True,
                          capture_output=True, text=True).stdout
    libraries = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
    run_path = [part for found in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text)
                for part in found.split(":")]
    releases = [tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_(2\.\d+)", text)]
    return libraries, run_path, max(releases, default=(2, 0))


def look(wheel):
    """The release of glibc for the wheel, and what is wrong with it."""
    newest, wrong = OLDEST, []
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if archive.read(name)[:4] != b"\x7fELF":
                continue
            libraries, run_path, release = needs_of(archive.extract(name, folder))
            newest = max(newest, release)
            wrong += [f"{name} needs {other}" for other in libraries - EVERYWHERE - OURS]
            wrong += [f"{name} looks in {part}" for part in run_path if not part.startswith("$ORIGIN")]
            print(f"  {name}: glibc {release[0]}.{release[1]}, {archive.getinfo(name).file_size:,} bytes")
    return newest, wrong


def rename(wheel, folder, platform):
    """Writes the wheel with that platform. Returns its new path."""
    name, version, python, abi, _ = wheel.stem.split("-")
    target = folder / f"{name}-{version}-{python}-{abi}-{platform}.whl"
    record_name = f"{name}-{version}.dist-info/RECORD"
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        record = old.read(record_name).decode()
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith(".dist-info/WHEEL"):
                data = re.sub(rb"(?m)^(Tag: \S+-\S+-)\S+$", rb"\g<1>" + platform.encode(), data)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record = re.sub(rf"(?m)^{re.escape(entry.filename)},.*$",
                                f"{entry.filename},sha256={digest},{len(data)}", record)
            if entry.filename != record_name:
                new.writestr(entry, data)
        new.writestr(old.getinfo(record_name), record)
    return target


def main():
    folder, failed = pathlib.Path(sys.argv[1]), False
    for wheel in map(pathlib.Path, sys.argv[2:]):
        print(f"{wheel.name}:")
        newest, wrong = look(wheel)
        for text in wrong:
            print(f"name_wheel: {wheel.name}: {text}", file=sys.stderr)
        failed = failed or bool(wrong)
        machine = wheel.stem.rsplit("-", 1)[1].removeprefix("linux_")
        named = rename(wheel, folder, f"manylinux_{newest[0]}_{newest[1]}_{machine}")
        print(f"{named}: {named.stat().st_size:,} bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
