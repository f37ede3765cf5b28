# SPDX-License-Identifier: Apache-2.0
"""The wheel that dev/build-python leaves next to the package: its content, and whether an empty
environment can use it."""

import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

import lanecrypt
from conftest import TESTS


@pytest.fixture(scope="module")
def wheel():
    found = list(pathlib.Path(lanecrypt.__file__).parents[2].glob("wheel/lanecrypt-*.whl"))
    if not found:
        pytest.skip("there is no wheel beside the package (dev/build-python makes one)")
    return found[0]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin", "HOME": "/"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_is_in_it(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = next(archive.read(name).decode() for name in names if name.endswith("/METADATA"))
        programs = {name for name in names
                    if archive.getinfo(name).external_attr >> 16 & 0o111 and "/." not in name}
    inside = {name.removeprefix("lanecrypt/") for name in names if name.startswith("lanecrypt/")}
    assert {"__main__.py", "py.typed", "_core.pyi", "lib/liblanecrypt.so.0", "lib/gpu.so",
            "lib/lanecrypt/lanecrypt-probe", "bin/lanecrypt", "bin/lanecryptd"} <= inside
    assert {"lanecrypt/bin/lanecrypt", "lanecrypt/bin/lanecryptd",
            "lanecrypt/lib/lanecrypt/lanecrypt-probe"} <= programs
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert "License-Expression: Apache-2.0" in metadata and "Requires-Dist" not in metadata
    assert not [name for name in inside if name.endswith((".cpp", ".h", ".a", ".so.0.1.0"))]


def test_run_paths_stay_inside(wheel, tmp_path):
    if shutil.which("readelf") is None:
        pytest.skip("needs readelf")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    elf = [path for path in tmp_path.rglob("*") if path.is_file()
           and path.read_bytes()[:4] == b"\x7fELF"]
    assert len(elf) == 6
    for path in elf:
        text = run("readelf", "--dynamic", "--wide", str(path))
        for found in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text):
            for part in found.split(":"):
                folder = pathlib.Path(part.replace("$ORIGIN", str(path.parent)))
                assert part.startswith("$ORIGIN") and tmp_path in folder.resolve().parents, part


def test_an_editable_installation(tmp_path):
    """`pip install -e` leaves the Python files in place, and puts compiled files elsewhere."""
    installed = pathlib.Path(lanecrypt._core.__file__)
    for path in pathlib.Path(lanecrypt.__file__).parent.rglob("*.py"):
        copy = tmp_path / "lanecrypt" / path.relative_to(pathlib.Path(lanecrypt.__file__).parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    said = run(sys.executable, "-c", f"""if True:
        import importlib.abc, importlib.util, runpy, sys
        class Finder(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name == "lanecrypt._core":
                    return importlib.util.spec_from_file_location(name, {str(installed)!r})
        sys.meta_path.insert(0, Finder())
        sys.path.insert(0, {str(tmp_path)!r})
        import lanecrypt
        assert lanecrypt.__file__.startswith({str(tmp_path)!r})
        print(lanecrypt.openssl_conf(), flush=True)
        sys.argv = ["lanecrypt", "--version"]
        runpy.run_module("lanecrypt", run_name="__main__")""")
    assert f"module = {installed.parent}/lib/gpu.so\n" in said
    assert said.endswith(f"lanecrypt {lanecrypt.__version__}\n")


def test_what_a_source_distribution_has(tmp_path, monkeypatch):
    """It has all files that a build reads: CMake finds each file that it names, and none is
    missing. It has no tests and no benchmarks."""
    source = pathlib.Path(TESTS).parents[1]
    if not (source / "pyproject.toml").exists():
        pytest.skip("needs the source")
    build = pytest.importorskip("scikit_build_core.build")
    nanobind = pytest.importorskip("nanobind")
    for program in ("cmake", "ninja"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    monkeypatch.chdir(source)
    name = build.build_sdist(str(tmp_path))
    shutil.unpack_archive(tmp_path / name, tmp_path)
    unpacked = tmp_path / name.removesuffix(".tar.gz")
    for folder in ("cli", "cmake", "include", "kernels", "probe", "provider", "python", "service", "src"):
        there, here = ({path.relative_to(root) for path in (root / folder).rglob("*")
                        if path.is_file() and "__pycache__" not in path.parts}
                       for root in (unpacked, source))
        assert there == here, folder
    assert not (unpacked / "tests").exists() and not (unpacked / "bench").exists()
    run("cmake", "-S", str(unpacked / "python"), "-B", str(tmp_path / "build"), "-G", "Ninja",
        "-DLANECRYPT_CUDA_ARCHS=none", f"-Dnanobind_DIR={nanobind.cmake_dir()}",
        f"-DPython_EXECUTABLE={sys.executable}")


def test_in_an_empty_environment(wheel, tmp_path):
    """The environment has no network and no pyca/cryptography."""
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", str(environment))
    python = str(environment / "bin" / "python")
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install",
        "--no-index", "--no-cache-dir", str(wheel))
    said = run(python, "-I", str(pathlib.Path(TESTS) / "try_wheel.py"))
    assert said.endswith("works\n")
    command = str(environment / "bin" / "lanecrypt")
    assert lanecrypt.__version__ in run(command, "--version")
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "uninstall",
        "--yes", "lanecrypt")
    assert not list(environment.rglob("*lanecrypt*"))
