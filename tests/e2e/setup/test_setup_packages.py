# SPDX-License-Identifier: Apache-2.0
"""dev/setup, with stand-ins for dpkg-query, apt-get and sudo."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import zipfile

import pytest

# This dpkg-query knows a package unless a line of the file `missing` names it.
DPKG_QUERY = """#!/bin/sh
for package; do :; done
if grep -qx "$package" "$STANDINS/missing"; then exit 1; fi
printf installed
"""
APT_GET = """#!/bin/sh
printf '%s\\n' "$*" >>"$STANDINS/apt"
if [ -e "$STANDINS/apt-fails" ]; then exit 100; fi
case "$*" in *install*) if [ -e "$STANDINS/apt-works" ]; then : >"$STANDINS/missing"; fi ;; esac
"""
SUDO = """#!/bin/sh
exit 1
"""


class Machine:
    """A copy of dev/setup with its own PATH and cache."""

    def __init__(self, folder, repository):
        self.folder = folder
        (folder / "dev").mkdir()
        shutil.copy(repository / "dev" / "setup", folder / "dev" / "setup")
        shutil.copytree(repository / "dev" / "requirements", folder / "dev" / "requirements")
        (folder / "bin").mkdir()
        for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET), ("sudo", SUDO)):
            (folder / "bin" / name).write_text(text)
            (folder / "bin" / name).chmod(0o755)
        (folder / "missing").write_text("")
        folder.chmod(0o777)

    def setup(self, *what, user=None, **environment):
        return subprocess.run(
            [self.folder / "dev" / "setup", *what], capture_output=True, text=True, timeout=300,
            stdin=subprocess.DEVNULL, user=user, check=False, cwd="/",
            env={"PATH": f"{self.folder}/bin:/usr/bin:/bin", "HOME": str(self.folder),
                 "STANDINS": str(self.folder), "LANECRYPT_CUDA_ARCHS": "none",
                 # Nothing is fetched, whether or not there is a network: pip would fetch 60 MB.
                 "PIP_NO_INDEX": "1", "LANECRYPT_NO_PYTHON": "1", "LANECRYPT_NO_VECTORS": "1",
                 **environment})

    def folder_of(self, name):
        """Returns where the cache has the packages of dev/requirements/NAME.txt."""
        said = subprocess.run([self.folder / "dev" / "setup", "--folder", name], check=True, text=True,
                              capture_output=True, env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)})
        return pathlib.Path(said.stdout.strip())

    def apt_calls(self):
        log = self.folder / "apt"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def machine(repository):
    # Other users may not enter pytest's own folder.
    with tempfile.TemporaryDirectory(prefix="lanecrypt-setup.") as name:
        yield Machine(pathlib.Path(name), repository)


@pytest.fixture
def root():
    if os.geteuid() != 0:
        pytest.skip("needs root, to try what root does")


def test_nothing_is_done_twice(machine):
    done = machine.setup()
    assert done.returncode == 0, done.stderr
    assert machine.apt_calls() == [] and done.stderr == ""


def test_root_installs_what_is_missing(machine, root):
    (machine.folder / "missing").write_text("ccache\npkgconf\n")
    (machine.folder / "apt-works").touch()
    done = machine.setup()
    assert done.returncode == 0, done.stderr
    update, install = machine.apt_calls()
    assert update.endswith("update")
    assert install.endswith("install --no-install-recommends ccache pkgconf")
    assert machine.setup().returncode == 0 and len(machine.apt_calls()) == 2


def test_who_builds_needs_no_linter_and_nothing_of_the_tests(machine):
    (machine.folder / "missing").write_text(
        "clang-format-14\nclang-format\nshellcheck\nlibgtest-dev\npython3-pytest\ncargo\n")
    done = machine.setup()
    assert (done.returncode, done.stderr, machine.apt_calls()) == (0, "", [])


@pytest.mark.parametrize("what, installed", [
    (["lint"], "git shellcheck"), (["test"], "libgtest-dev git"), (["build"], "cmake"),
    (["build", "test", "lint"], "cmake libgtest-dev git shellcheck")])
def test_what_is_named_is_installed(machine, root, what, installed):
    (machine.folder / "missing").write_text("cmake\ngit\nlibgtest-dev\nshellcheck\n")
    (machine.folder / "apt-works").touch()
    machine.folder_of("clang-format").mkdir(parents=True)
    done = machine.setup(*what)
    assert done.returncode == 0, done.stderr
    assert machine.apt_calls()[-1].endswith(f"install --no-install-recommends {installed}")


@pytest.mark.parametrize("what, package, name", [("lint", "clang-format", "clang-format"),
                                                ("docs", "markdown-it-py", "docs")])
def test_a_tool_that_cannot_be_fetched(machine, what, package, name):
    done = machine.setup(what)
    assert done.returncode == 1
    assert f"pip could not fetch {package}" in done.stderr
    cache = machine.folder / ".cache" / "lanecrypt"
    assert [entry.name for entry in cache.iterdir()] == [f"{name}.lock"]


def test_vectors_that_cannot_be_fetched_are_left_out(machine):
    done = machine.setup("test", LANECRYPT_NO_PYTHON="0", LANECRYPT_NO_VECTORS="0")
    assert done.returncode == 0, done.stderr
    assert "pip could not fetch the vectors" in done.stderr
    assert "the Python package's tests will be skipped" in done.stderr
    cache = machine.folder / ".cache" / "lanecrypt"
    assert {entry.name for entry in cache.iterdir()} == {"vectors.lock", "python-tools.lock"}


def test_a_python_that_is_too_old(machine):
    old = machine.folder / "bin" / "python3.9"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = machine.setup("test", LANECRYPT_NO_PYTHON="0", LANECRYPT_PYTHON="python3.9")
    assert done.returncode == 1
    assert "the Python package cannot be built for python3.9" in done.stderr


def test_lint_takes_no_other_clang_format(machine, repository):
    """Another release would format differently. If nothing may be fetched, dev/lint says what is
    missing."""
    shutil.copy(repository / "dev" / "lint", machine.folder / "dev" / "lint")
    subprocess.run(["git", "init", "-q", machine.folder], check=True)
    for name in ("clang-format", "clang-format-14"):
        (machine.folder / "bin" / name).write_text("#!/bin/sh\n")
        (machine.folder / "bin" / name).chmod(0o755)
    done = subprocess.run([machine.folder / "dev" / "lint"], capture_output=True, text=True, check=False,
                          timeout=300, env={"PATH": f"{machine.folder}/bin:/usr/bin:/bin",
                                            "HOME": str(machine.folder), "LANECRYPT_NO_SETUP": "1"})
    assert done.returncode == 1
    assert f"{machine.folder_of('clang-format')}/" in done.stdout
    assert "(dev/setup lint fetches it)" in done.stdout


def test_apt_that_does_not_help(machine, root):
    (machine.folder / "missing").write_text("ccache\n")
    done = machine.setup()
    assert done.returncode == 1
    assert "still missing after apt-get: ccache" in done.stderr


def test_servers_are_installed_where_they_are_wanted(machine, root):
    (machine.folder / "missing").write_text("nginx-light\n")
    assert machine.setup("test").returncode == 0 and machine.apt_calls() == []
    assert machine.setup(LANECRYPT_SERVERS="1").returncode == 0 and machine.apt_calls() == []
    (machine.folder / "apt-works").touch()
    done = machine.setup("test", LANECRYPT_SERVERS="1")
    assert done.returncode == 0, done.stderr
    assert machine.apt_calls()[-1].endswith("install --no-install-recommends nginx-light")


def test_servers_that_cannot_be_installed_are_left_out(machine, root):
    (machine.folder / "missing").write_text("haproxy\nnginx-light\n")
    (machine.folder / "apt-fails").touch()
    done = machine.setup("test", LANECRYPT_SERVERS="1")
    assert done.returncode == 0, done.stderr
    assert "could not install haproxy nginx-light" in done.stderr


def test_pytorch_is_installed_where_it_is_wanted(machine, root):
    (machine.folder / "missing").write_text("python3-torch\n")
    assert machine.setup("test").returncode == 0 and machine.apt_calls() == []
    assert machine.setup(LANECRYPT_TORCH="1").returncode == 0 and machine.apt_calls() == []
    (machine.folder / "apt-fails").touch()
    done = machine.setup("test", LANECRYPT_TORCH="1")
    assert done.returncode == 0, done.stderr
    assert ("could not install python3-torch: tests that need PyTorch may be skipped"
            in done.stderr)
    (machine.folder / "apt-fails").unlink()
    (machine.folder / "apt-works").touch()
    assert machine.setup("test", LANECRYPT_TORCH="1").returncode == 0
    assert machine.apt_calls()[-1].endswith("install --no-install-recommends python3-torch")


def test_who_is_not_root_is_told_the_command(machine):
    (machine.folder / "missing").write_text("cmake\nccache\n")
    done = machine.setup(user=65534 if os.geteuid() == 0 else None)
    assert done.returncode == 1
    assert ("  sudo apt-get update && sudo apt-get install --no-install-recommends cmake ccache\n"
            in done.stderr)
    assert machine.apt_calls() == []


def test_nvcc_that_cannot_be_fetched(machine):
    if shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"):
        pytest.skip("there is an nvcc here already, so none is fetched")
    done = machine.setup(LANECRYPT_CUDA_ARCHS="90")
    assert done.returncode == 1
    assert "To build without CUDA: LANECRYPT_CUDA_ARCHS=none" in done.stderr
    cache = machine.folder / ".cache" / "lanecrypt"
    assert [entry.name for entry in cache.iterdir()] == ["nvcc.lock"]


def test_nvcc_in_the_cache_is_not_fetched_again(machine):
    nvcc = machine.folder_of("nvcc") / "nvidia/cu13/bin/nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text("")
    nvcc.chmod(0o755)
    done = machine.setup(LANECRYPT_CUDA_ARCHS="90")
    assert (done.returncode, done.stderr) == (0, "")


def test_other_requirements_have_another_folder(machine):
    before = machine.folder_of("nvcc")
    with open(machine.folder / "dev/requirements/nvcc.txt", "a", encoding="utf-8") as file:
        file.write("# another\n")
    assert machine.folder_of("nvcc") != before


def test_what_has_another_hash_is_refused(machine):
    """pip accepts the file only if it has the hash that dev/requirements names."""
    wheel = machine.folder / "wheels/clang_format-14.0.6-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("clang_format/data/bin/clang-format", "#!/bin/sh\n")
        file.writestr("clang_format-14.0.6.dist-info/METADATA",
                      "Metadata-Version: 2.1\nName: clang-format\nVersion: 14.0.6\n")
        file.writestr("clang_format-14.0.6.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr("clang_format-14.0.6.dist-info/RECORD", "")
    done = machine.setup("lint", PIP_FIND_LINKS=str(wheel.parent))
    assert done.returncode == 1
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in done.stderr
    assert not machine.folder_of("clang-format").exists()


def test_each_requirement_has_a_version_and_a_hash(repository):
    for path in (repository / "dev/requirements").glob("*.txt"):
        lines = re.sub(r"\\\n", "", path.read_text(encoding="utf-8")).splitlines()
        needs = [line for line in lines if not line.startswith("#")]
        assert needs, path
        for line in needs:
            assert re.match(r"[\w-]+==[\w.]+(; [^-]+)? +--hash=sha256:[0-9a-f]{64}", line), (path, line)
        wants = [line.removeprefix("# want: ") for line in lines if line.startswith("# want: ")]
        assert wants == [line.split("  ")[0].rstrip() for line in needs], path


def test_it_can_be_left_out(machine):
    (machine.folder / "missing").write_text("cmake\n")
    assert machine.setup(LANECRYPT_NO_SETUP="1").returncode == 0
    assert machine.apt_calls() == []


def test_other_words_are_refused(machine):
    (machine.folder / "missing").write_text("cmake\n")
    for words in (["tests"], ["--help"], ["build", "all"]):
        done = machine.setup(*words)
        assert done.returncode == 1 and "there is no such thing to set up: " in done.stderr
    assert machine.apt_calls() == []
