#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies the TLS servers of this machine into a folder, with the libraries that they load.

The folder is for a machine that has no such servers and no network: handshakes.py takes them from
there by --root. The C and C++ libraries and OpenSSL are not copied; the other machine's own are
used.

Usage: bench/service/collect_servers.py FOLDER [NAME ...]
  NAME  one of nginx, haproxy, apache2, stunnel4, postgresql; by default all but postgresql, which
        is large
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

PROGRAMS = ("nginx", "haproxy", "apache2", "stunnel4")
APACHE_MODULES = ("mpm_prefork", "mpm_event", "authz_core", "ssl")
LIBRARIES = "usr/lib/x86_64-linux-gnu"
# Libraries that the other machine provides in the same version or a newer one.
ITS_OWN = re.compile(r"(ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|"
                     r"libstdc\+\+|libssl|libcrypto)\.so")
# What a PostgreSQL server needs that only performs handshakes.
POSTGRES_LIBRARIES = ("dict_snowball.so", "plpgsql.so", "libpqwalreceiver.so", "euc_*.so")


def libraries_of(file):
    """Returns the libraries that a program or a library loads."""
    said = subprocess.run(["ldd", file], capture_output=True, text=True, check=False).stdout
    return [path for name, path in re.findall(r"(\S+) => (/\S+)", said) if not ITS_OWN.match(name)]


def take(file, folder, to):
    target = folder / to
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)
    (folder / LIBRARIES).mkdir(parents=True, exist_ok=True)
    for library in libraries_of(file):
        shutil.copy(os.path.realpath(library), folder / LIBRARIES / os.path.basename(library))


def take_postgres(folder):
    for programs in sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1:]:
        version = programs.parent.name
        home = f"usr/lib/postgresql/{version}"
        for name in ("postgres", "initdb"):
            take(programs / name, folder, f"{home}/bin")
        for pattern in POSTGRES_LIBRARIES:
            for library in (programs.parent / "lib").glob(pattern):
                take(library, folder, f"{home}/lib")
        shutil.copytree(f"/usr/share/postgresql/{version}",
                        folder / f"usr/share/postgresql/{version}", dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("man", "*.sample~", "extension"))
        # initdb needs these two.
        extensions = folder / f"usr/share/postgresql/{version}/extension"
        extensions.mkdir(exist_ok=True)
        for file in pathlib.Path(f"/usr/share/postgresql/{version}/extension").glob("plpgsql*"):
            shutil.copy(file, extensions)
        print(f"PostgreSQL {version}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:] or PROGRAMS
    for name in set(names) - {"postgresql"}:
        path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if path:
            take(path, folder, "usr/sbin")
        print(f"{name}: {path or 'not on this machine'}")
    modules = pathlib.Path("/usr/lib/apache2/modules")
    for name in APACHE_MODULES:
        if "apache2" in names and (modules / f"mod_{name}.so").exists():
            take(modules / f"mod_{name}.so", folder, "usr/lib/apache2/modules")
    if "postgresql" in names:
        take_postgres(folder)


if __name__ == "__main__":
    main()
