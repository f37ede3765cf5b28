# SPDX-License-Identifier: Apache-2.0
"""`cmake --install`, and programs that use what it installed."""

import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

from conftest import REPOSITORY
from provider_fixtures import Configuration, IV, KEY

# Encrypts FIPS 197's example (appendix C.1) on the device that LANECRYPT_DEVICES names.
CONSUMER = r"""
#include <lanecrypt/lanecrypt.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  static const unsigned char kExpected[16] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                              0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
  unsigned char key[16], data[16];
  lc_context *context = NULL;
  lc_options options;
  lc_message message;
  lc_cipher_job job;
  lc_result result;
  int i;
  for (i = 0; i < 16; ++i) {
    key[i] = (unsigned char)i;
    data[i] = (unsigned char)(i * 0x11);
  }
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.fallback = LC_FALLBACK_NONE;
  memset(&message, 0, sizeof message);
  message.key = key;
  message.in = message.out = data;
  message.length = sizeof data;
  memset(&job, 0, sizeof job);
  job.struct_size = sizeof job;
  job.cipher = LC_AES_ECB;
  job.direction = LC_ENCRYPT;
  job.key_bytes = sizeof key;
  job.memory = LC_MEMORY_HOST;
  job.device = LC_ANY_DEVICE;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  memset(&result, 0, sizeof result);
  result.struct_size = sizeof result;
  if (lc_open(&options, &context) != LC_OK || lc_run(context, &job, &result) != LC_OK) {
    fprintf(stderr, "%s\n", lc_last_error());
    return 1;
  }
  lc_close(context);
  printf("%s %d %d\n", lc_version(), (int)result.device_bytes,
         memcmp(data, kExpected, sizeof data) == 0);
  return 0;
}
"""

CMAKE_CONSUMER = """
cmake_minimum_required(VERSION 3.16)
project(consumer LANGUAGES C)
find_package(lanecrypt 0.1 REQUIRED)
add_executable(consumer consumer.c)
target_link_libraries(consumer PRIVATE lanecrypt::lanecrypt)
"""


def run(*command, **options):
    options.setdefault("env", dict(os.environ))
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=600, stdin=subprocess.DEVNULL, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


pytestmark = pytest.mark.xdist_group("install")


@pytest.fixture(scope="module")
def prefix(build, tmp_path_factory):
    if not shutil.which("cmake"):
        pytest.skip("there is no cmake")
    folder = tmp_path_factory.mktemp("installed") / "a prefix"
    run("cmake", "--install", build, "--prefix", folder)
    return folder


def only(found):
    found = list(found)
    assert len(found) == 1, found
    return found[0]


def library(prefix):
    return only(prefix.glob("**/liblanecrypt.so"))


def probe(prefix):
    return library(prefix).parent / "lanecrypt" / "lanecrypt-probe"


def check_consumer(program, prefix):
    told = run(program, env={**os.environ, "LANECRYPT_DEVICES": "host",
                             "LD_LIBRARY_PATH": str(library(prefix).parent)})
    version, device_bytes, right = told.split()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert (device_bytes, right) == ("16", "1")


def test_a_c99_program_by_pkg_config(prefix, tmp_path):
    if not shutil.which("pkg-config"):
        pytest.skip("there is no pkg-config")
    (tmp_path / "consumer.c").write_text(CONSUMER)
    package = only(prefix.glob("**/lanecrypt.pc"))
    environment = {**os.environ, "PKG_CONFIG_PATH": str(package.parent)}
    # A shell reads the flags, as in a Makefile: the prefix contains a space.
    run("sh", "-c", "eval cc -std=c99 -pedantic-errors -Wall -Wextra -Werror consumer.c -o consumer"
        " $(pkg-config --cflags --libs lanecrypt)", cwd=tmp_path, env=environment)
    check_consumer(tmp_path / "consumer", prefix)
    assert run("pkg-config", "--modversion", "lanecrypt", env=environment).strip() == "0.1.0"


def test_a_program_by_find_package(prefix, tmp_path):
    (tmp_path / "consumer.c").write_text(CONSUMER)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_CONSUMER)
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    check_consumer(tmp_path / "build" / "consumer", prefix)


EXAMPLES = {"gcm_messages": [], "rsa_signatures": ["libcrypto"], "blake3_file": []}


def build_by_pkg_config(prefix, folder):
    package = only(prefix.glob("**/lanecrypt.pc"))
    path = os.pathsep.join(filter(None, [str(package.parent), os.environ.get("PKG_CONFIG_PATH")]))
    for name, packages in EXAMPLES.items():
        run("sh", "-c", f"eval cc -Wall -Wextra -Werror {REPOSITORY}/examples/c/{name}.c -o {name}"
            f" $(pkg-config --cflags --libs {' '.join(['lanecrypt', *packages])})", cwd=folder,
            env={**os.environ, "PKG_CONFIG_PATH": path})


def build_by_find_package(prefix, folder):
    run("cmake", "-S", REPOSITORY / "examples" / "c", "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")
    run("cmake", "--build", folder)


@pytest.mark.parametrize("devices", ["host", "none"])
@pytest.mark.parametrize("tool, build_examples", [("pkg-config", build_by_pkg_config),
                                                  ("cmake", build_by_find_package)])
def test_the_examples_in_c(prefix, tool, build_examples, devices, tmp_path):
    if not shutil.which(tool):
        pytest.skip(f"there is no {tool}")
    build_examples(prefix, tmp_path)
    environment = {**os.environ, "LANECRYPT_DEVICES": devices,
                   "LD_LIBRARY_PATH": str(library(prefix).parent)}

    def example(name, *arguments):
        return run(tmp_path / name, *arguments, env=environment, cwd=tmp_path)

    printed = example("gcm_messages")
    used = {"host": "1048576 bytes on a device and 0", "none": "0 bytes on a device and 1048576"}
    assert used[devices] in printed and "message 7: wrong tag\n4095 messages" in printed

    run("openssl", "genrsa", "-out", "key.pem", "2048", cwd=tmp_path)
    run("openssl", "pkey", "-in", "key.pem", "-pubout", "-out", "public.pem", cwd=tmp_path)
    (tmp_path / "one").write_bytes(b"")
    (tmp_path / "two").write_bytes(b"abc")
    printed = example("rsa_signatures", "key.pem", "one", "two")
    used = {"host": "2 signatures on a device, 0", "none": "0 signatures on a device, 2"}
    assert used[devices] in printed
    for name in ("one", "two"):
        run("openssl", "dgst", "-sha256", "-verify", "public.pem", "-signature", f"{name}.sig", name,
            cwd=tmp_path)

    # The digests of "" and "abc" by BLAKE3's reference implementation.
    assert example("blake3_file", "one", "two") == (
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262  one\n"
        "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85  two\n")


def test_the_library_exports_the_abi_alone(prefix):
    symbols = [line.split()[-1].split("@@")
               for line in run("nm", "-D", "--defined-only", library(prefix)).splitlines()
               if line.split()[-2] != "A"]
    names = [name for name, version in symbols if version != "LANECRYPT_PRIVATE"]
    assert [name for name in names if not name.startswith("lc_")] == []
    headers = "".join(file.read_text() for file in (prefix / "include" / "lanecrypt").glob("*.h"))
    assert sorted(names) == sorted(set(re.findall(r"^LC_API [^(;]*?\b(lc_\w+)\(", headers, re.M)))
    # lanecrypt-probe and lanecryptd use these. No installed header names them.
    private = [name for name, version in symbols if version == "LANECRYPT_PRIVATE"]
    assert private == ["lc_probe", "lc_rsa_key_has_primes"]
    for file in [*prefix.glob("include/**/*.h"), *prefix.glob("include/**/*.hpp")]:
        assert not any(name in file.read_text() for name in private), file


def test_the_library_needs_no_driver_and_no_libcrypto(prefix):
    told = run("readelf", "-d", library(prefix))
    needed = re.findall(r"NEEDED.*\[(.*)\]", told)
    assert needed and not [n for n in needed
                           if re.match(r"lib(crypto|ssl|cuda|cudart|OpenCL|nv)", n)], needed
    assert re.search(r"SONAME.*\[liblanecrypt\.so\.\d+", told)


def test_installed_names_hold_no_build_folder(prefix, build):
    for file in [*prefix.glob("**/*.pc"), *prefix.glob("**/*.cmake")]:
        assert str(build) not in file.read_text(), file
    for file in [library(prefix), probe(prefix), *prefix.glob("**/gpu.so"),
                 *prefix.glob("bin/*")]:
        assert str(build) not in "".join(
            re.findall(r"(?:RPATH|RUNPATH).*", run("readelf", "-d", file))), file


def test_the_command_runs_where_it_was_installed(prefix):
    command = prefix / "bin" / "lanecrypt"
    assert "0.1.0" in run(command, "--version")
    assert "host:0" in run(command, "devices", env={**os.environ, "LANECRYPT_DEVICES": "host"})
    assert "Usage: lanecrypt bench" in run(command, "bench", "--help")


@pytest.fixture(scope="module")
def moved(prefix, tmp_path_factory):
    """The installed files, moved to another folder."""
    folder = tmp_path_factory.mktemp("moved") / "else where"
    shutil.copytree(prefix, folder, symlinks=True)
    return folder


def test_what_was_moved_finds_its_probe(moved, tmp_path, devices):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}

    def ask():
        done = subprocess.run([moved / "bin" / "lanecrypt", "devices", "--devices", "opencl"],
                              capture_output=True, text=True, timeout=120, env=environment)
        return done.stdout + done.stderr

    told = ask()
    assert "lanecrypt-probe" not in told
    assert "Usage: lanecrypt bench" in run(moved / "bin" / "lanecrypt", "bench", "--help")
    if any(device["api"] == "opencl" for device in devices):
        assert "opencl:0" in told
    shutil.rmtree(tmp_path / "lanecrypt")
    hidden = probe(moved).rename(tmp_path / "hidden")
    try:
        why = "lanecrypt-probe, which looks for devices, is not installed"
        assert why in ask()
        # It also says so if the user named no device.
        listed = run(moved / "bin" / "lanecrypt", "devices", env=environment)
        assert f"\ncuda: {why}\nopencl: {why}\ngl: {why}\n" in listed
    finally:
        hidden.rename(probe(moved))


def test_the_provider_that_was_moved_finds_its_library(moved, tmp_path):
    configuration = Configuration(tmp_path, moved, devices="host", threshold_bytes="0")
    module = only(moved.glob("**/gpu.so"))
    configuration.path.write_text(
        configuration.path.read_text().replace(f"{moved}/lib/gpu.so", str(module)))
    configuration.run("openssl", "enc", "-aes-256-ctr", "-K", KEY, "-iv", IV, "-in", module,
                      "-out", os.devnull)
    assert configuration.counters()["device_bytes"] > 0


def test_openssl_loads_the_installed_provider(prefix):
    module = only(prefix.glob("**/gpu.so"))
    assert module.parent.name == "ossl-modules"
    told = run("openssl", "list", "-providers", "-provider-path", module.parent,
               "-provider", "gpu", "-provider", "default")
    assert re.search(r"^ +gpu$", told, re.M) and "active" in told, told


def test_the_manual_is_there(prefix):
    pages = [pathlib.Path(p).name for p in prefix.glob("share/man/man*/*")]
    assert {"lanecrypt.1", "lanecrypt-provider.7", "lanecryptd.8"} <= set(pages), pages


def test_the_command_runs_a_program_with_what_was_moved(moved):
    """It finds the service next to itself, and the provider where that was installed."""
    told = run(moved / "bin" / "lanecrypt", "run", "--devices", "host", "openssl", "list", "-providers",
               env={**os.environ, "LANECRYPT_DEVICES": "none"})
    assert re.search(r"^  gpu\n(?:    .*\n)*?    status: active$", told, re.M), told


def test_systemd_takes_the_units(prefix, tmp_path):
    """The unit names the installed path of the service, even if it contains a space."""
    units = prefix / "lib" / "systemd" / "system"
    assert f'ExecStart="{prefix}/bin/lanecryptd" --socket' in (units / "lanecryptd.service").read_text()
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    environment = {**os.environ, "MANPATH": str(prefix / "share" / "man"), "SYSTEMD_LOG_LEVEL": "warning"}
    done = subprocess.run(["systemd-analyze", "verify", *sorted(units.iterdir())], env=environment,
                          capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    # The exposure score, from 0 to 10. Everything that the kernel offers is switched off except
    # devices, sockets, and what the service needs to tell its clients apart.
    run("systemd-analyze", "security", "--offline=true", "--threshold=10", units / "lanecryptd.service")
    told = run("systemd-sysusers", "--dry-run", "--root", tmp_path, prefix / "lib" / "sysusers.d" / "lanecrypt.conf")
    assert "lanecrypt" in told or told == ""
    # A folder of `lanecrypt run` is not removed, however old it is.
    rules = tmp_path / "age.conf"
    rules.write_text((prefix / "lib" / "tmpfiles.d" / "lanecrypt.conf").read_text() + "e /tmp - - - 1s\n")
    for name in ("lanecrypt-run.abcdef", "another"):
        (tmp_path / "tmp" / name).mkdir(parents=True)
    time.sleep(2)
    run("systemd-tmpfiles", "--clean", "--root", tmp_path, rules)
    assert os.listdir(tmp_path / "tmp") == ["lanecrypt-run.abcdef"]
