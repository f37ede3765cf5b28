# SPDX-License-Identifier: Apache-2.0
"""dev/join_wheels.py: makes one wheel from those for several versions of CPython. Its name says
which version and which glibc it needs. A wheel that needs more than every Linux has is refused."""

import base64
import csv
import hashlib
import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(
    not (shutil.which("cc") and shutil.which("readelf") and importlib.util.find_spec("wheel")),
    reason="needs cc, readelf and Python's package wheel")

OWN_SUFFIX = f"-{sysconfig.get_config_var('MULTIARCH')}.so"
CP310 = ("cp310-cp310", f"_core.cpython-310{OWN_SUFFIX}")
CP311 = ("cp311-cp311", f"_core.cpython-311{OWN_SUFFIX}")
STABLE = ("cp312-abi3", "_core.abi3.so")


def shared(folder, name, source, *options):
    path = folder / name
    subprocess.run(["cc", "-shared", "-nostdlib", "-fPIC", "-o", path, "-x", "c", "-", "-x", "none",
                    *options],
                   input=source, text=True, check=True)
    return path


def c_library(folder, release):
    """Makes a stand-in for a glibc in which `release` was the first to have the function `late`."""
    script = folder / "versions"
    script.write_text(f"GLIBC_{release} {{ global: late; }};")
    return shared(folder, "libc.so.6", "void late(void) {}", "-Wl,-soname,libc.so.6",
                  f"-Wl,--version-script={script}")


def that_needs(folder, release, *options):
    """Makes a library that calls that function."""
    return shared(folder, "library.so", "void late(void); void call(void) { late(); }",
                  c_library(folder, release), *options)


def wheel_of(folder, library, tags, module, text="same"):
    """Makes a wheel for this version of Python with its extension module, that library and a
    command."""
    root = folder / tags
    information = root / "lanecrypt-1.0.dist-info"
    (root / "lanecrypt" / "bin").mkdir(parents=True)
    information.mkdir()
    (root / "lanecrypt" / module).write_text(f"of {tags}")
    (root / "lanecrypt" / "__init__.py").write_text(text)
    (root / "lanecrypt" / "bin" / "lanecrypt").write_text("")
    (root / "lanecrypt" / "bin" / "lanecrypt").chmod(0o755)
    shutil.copy(library, root / "lanecrypt" / "library.so")
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: lanecrypt\nVersion: 1.0\n")
    (information / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\n"
                                       f"Tag: {tags}-linux_x86_64\n")
    subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", folder, root], check=True,
                   capture_output=True)
    return folder / f"lanecrypt-1.0-{tags}-linux_x86_64.whl"


def join(folder, wheels):
    target = folder / "joined"
    target.mkdir()
    done = subprocess.run([sys.executable, ROOT / "dev" / "join_wheels.py", target, *wheels],
                          capture_output=True, text=True, timeout=60)
    return done, list(target.iterdir())


def join_one(folder, library):
    return join(folder, [wheel_of(folder, library, *STABLE)])


@pytest.fixture
def library(tmp_path):
    return that_needs(tmp_path, "2.17")


@pytest.fixture(scope="module")
def joined(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    library = that_needs(folder, "2.17")
    # The result does not depend on the order of the wheels.
    done, made = join(folder, [wheel_of(folder, library, *kind) for kind in (CP311, STABLE, CP310)])
    assert done.returncode == 0, done.stderr
    return made[0]


def test_one_wheel_for_all_has_each_file_once(joined):
    assert joined.name == "lanecrypt-1.0-cp310-abi3-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(joined) as archive:
        names = archive.namelist()
        contents = {name: archive.read(name) for name in names}
        command = archive.getinfo("lanecrypt/bin/lanecrypt")
    assert len(names) == len(set(names))
    assert {f"lanecrypt/{module}": f"of {tags}".encode() for tags, module in (CP310, CP311, STABLE)} == {
        name: data for name, data in contents.items() if "_core" in name}
    assert command.external_attr >> 16 & 0o111 == 0o111
    said = contents["lanecrypt-1.0.dist-info/WHEEL"].decode()
    assert said.count("Tag: ") == 1 and "Tag: cp310-abi3-manylinux_2_28_x86_64\n" in said
    assert "Root-Is-Purelib: false\n" in said

    record = "lanecrypt-1.0.dist-info/RECORD"
    rows = {name: (digest, size) for name, digest, size in csv.reader(contents[record].decode().splitlines())}
    assert rows.keys() == set(names) and rows[record] == ("", "")
    for name in set(names) - {record}:
        digest = base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).rstrip(b"=").decode()
        assert rows[name] == (f"sha256={digest}", str(len(contents[name]))), name


def test_python_takes_the_file_of_its_own_version(joined, tmp_path):
    with zipfile.ZipFile(joined) as archive:
        archive.extractall(tmp_path / "there")
    folder = tmp_path / "there" / "lanecrypt"
    found = importlib.machinery.PathFinder.find_spec("_core", [str(folder)])
    modules = {(3, 10): CP310[1], (3, 11): CP311[1]}
    assert found.origin == str(folder / modules.get(sys.version_info[:2], STABLE[1]))


# pip refuses free-threaded versions too, but knows them only since 24.1.
@pytest.mark.parametrize("options, takes", [
    (("--python-version", "3.9"), False),
    (("--python-version", "3.10"), True),
    (("--python-version", "3.11"), True),
    (("--python-version", "3.14"), True),
    (("--python-version", "3.11", "--implementation", "pp", "--abi", "pypy311_pp73"), False),
])
def test_pip_takes_it_for_every_cpython_and_no_pypy(joined, tmp_path, options, takes):
    if importlib.util.find_spec("pip") is None:
        pytest.skip("needs pip")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "--isolated", "download", "--no-deps",
         "--no-index", "--no-cache-dir", "--only-binary", ":all:", "--dest", tmp_path / "taken",
         "--platform", "manylinux_2_28_x86_64", "--find-links", joined.parent, *options, "lanecrypt"],
        capture_output=True, text=True, timeout=60)
    assert (done.returncode == 0) is takes, done.stdout + done.stderr
    assert takes or "No matching distribution" in done.stderr


@pytest.mark.parametrize("kinds", [
    # pip would install the first set on 3.11, and the second on 3.12.
    (CP310, STABLE), (CP310, CP311)])
def test_a_wheel_that_a_version_cannot_use_is_refused(tmp_path, library, kinds):
    done, made = join(tmp_path, [wheel_of(tmp_path, library, *kind) for kind in kinds])
    assert done.returncode == 1 and not made
    assert "these are for " + ", ".join(tags for tags, _ in kinds) in done.stderr


def test_wheels_of_two_builds_are_refused(tmp_path, library):
    done, made = join(tmp_path, [wheel_of(tmp_path, library, *CP311),
                                 wheel_of(tmp_path, library, *STABLE, text="other")])
    assert done.returncode == 1 and not made
    assert "not of one build: lanecrypt/__init__.py" in done.stderr


@pytest.mark.parametrize("release, tag", [("2.99", "manylinux_2_99_x86_64"),
                                          # dev/wheel builds for 2.28, so no older one is promised.
                                          ("2.17", "manylinux_2_28_x86_64")])
def test_it_is_named_after_what_it_needs(tmp_path, release, tag):
    done, made = join_one(tmp_path, that_needs(tmp_path, release))
    assert done.returncode == 0, done.stderr
    assert [path.name for path in made] == [f"lanecrypt-1.0-cp312-abi3-{tag}.whl"]


def test_another_library_is_refused(tmp_path):
    other = shared(tmp_path, "libother.so", "void other(void) {}", "-Wl,-soname,libother.so.1")
    done, made = join_one(tmp_path, that_needs(tmp_path, "2.17", "-Wl,--no-as-needed", other))
    assert done.returncode == 1 and not made and "library.so needs libother.so.1" in done.stderr


def test_a_run_path_outside_is_refused(tmp_path):
    done, made = join_one(tmp_path, that_needs(tmp_path, "2.17", "-Wl,-rpath,/usr/lib"))
    assert done.returncode == 1 and not made and "library.so looks in /usr/lib" in done.stderr
