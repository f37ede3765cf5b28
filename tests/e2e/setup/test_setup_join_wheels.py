# SPDX-License-Identifier: Apache-2.0
"""dev/name_wheel.py: the name of a wheel says which glibc it needs, and a wheel that needs more than
every Linux has is refused."""

import base64
import hashlib
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(not (shutil.which("cc") and shutil.which("readelf")),
                                reason="needs cc and readelf")


def shared(folder, name, source, *options):
    path = folder / name
    subprocess.run(["cc", "-shared", "-nostdlib", "-fPIC", "-o", path, "-x", "c", "-", "-x", "none",
                    *options],
                   input=source, text=True, check=True)
    return path


def c_library(folder, release):
    """As a glibc of which `release` was the first to have the function `late`."""
    script = folder / "versions"
    script.write_text(f"GLIBC_{release} {{ global: late; }};")
    return shared(folder, "libc.so.6", "void late(void) {}", "-Wl,-soname,libc.so.6",
                  f"-Wl,--version-script={script}")


def that_needs(folder, release, *options):
    """A library that calls that function."""
    return shared(folder, "library.so", "void late(void); void call(void) { late(); }",
                  c_library(folder, release), *options)


def name(folder, library):
    wheel = folder / "lanecrypt-1.0-cp312-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(library, "lanecrypt/lib/library.so")
        archive.writestr("lanecrypt-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: cp312-abi3-linux_x86_64\n")
        archive.writestr("lanecrypt-1.0.dist-info/RECORD",
                         "lanecrypt-1.0.dist-info/WHEEL,sha256=old,3\nlanecrypt-1.0.dist-info/RECORD,,\n")
    target = folder / "named"
    target.mkdir()
    done = subprocess.run([sys.executable, ROOT / "dev" / "name_wheel.py", target, wheel],
                          capture_output=True, text=True, timeout=60)
    return done, list(target.iterdir())


@pytest.mark.parametrize("release, tag", [("2.99", "manylinux_2_99_x86_64"),
                                          # None is promised that nobody builds for.
                                          ("2.17", "manylinux_2_28_x86_64")])
def test_it_is_named_after_what_it_needs(tmp_path, release, tag):
    done, made = name(tmp_path, that_needs(tmp_path, release))
    assert done.returncode == 0, done.stderr
    assert [path.name for path in made] == [f"lanecrypt-1.0-cp312-abi3-{tag}.whl"]
    with zipfile.ZipFile(made[0]) as archive:
        said = archive.read("lanecrypt-1.0.dist-info/WHEEL")
        record = archive.read("lanecrypt-1.0.dist-info/RECORD").decode()
    assert f"Tag: cp312-abi3-{tag}\n".encode() in said
    digest = base64.urlsafe_b64encode(hashlib.sha256(said).digest()).rstrip(b"=").decode()
    assert f"lanecrypt-1.0.dist-info/WHEEL,sha256={digest},{len(said)}\n" in record


def test_another_library_is_refused(tmp_path):
    other = shared(tmp_path, "libother.so", "void other(void) {}", "-Wl,-soname,libother.so.1")
    done, _ = name(tmp_path, that_needs(tmp_path, "2.17", "-Wl,--no-as-needed", other))
    assert done.returncode == 1 and "library.so needs libother.so.1" in done.stderr


def test_a_run_path_outside_is_refused(tmp_path):
    done, _ = name(tmp_path, that_needs(tmp_path, "2.17", "-Wl,-rpath,/usr/lib"))
    assert done.returncode == 1 and "library.so looks in /usr/lib" in done.stderr
