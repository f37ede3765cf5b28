# SPDX-License-Identifier: Apache-2.0
"""The package's type annotations are right, as checked by mypy."""

import os
import pathlib
import subprocess
import sys

import pytest

import lanecrypt

PROGRAM = """
import asyncio
from lanecrypt import AESGCM, Cipher, Context, Device, Job, KeyFile, counters, devices, rsa

aead = AESGCM(KeyFile("/key"), context=Context("none", fallback="none", service="auto"))
count: int = aead.encrypt_into(bytes(12), b"text", None, bytearray(20))
job: Job[int] = aead.submit_decrypt_into(bytes(12), b"", b"", bytearray())
async def wait() -> int:
    return await job
first: Device = devices()[0]
number: int = counters()["cpu"].bytes
signatures: list[bytes] = rsa.sign_many(b"", [b"a"], padding="pss")
"""

# A result for bytes is bytes, whatever other frameworks are installed.
RETURNS = """
import array
import mmap
from typing import Any
import numpy
from lanecrypt import AESCCM, AESGCM, Cipher, Job, KeyFile, hash_many

aead = AESGCM(KeyFile("/key", encoding="hex"))
nonce = bytes(12)
a: bytes = aead.encrypt(nonce, b"text", None)
b: bytes = aead.encrypt(bytearray(nonce), bytearray(b"text"), memoryview(b""))
c: bytes = aead.decrypt(nonce, a)
j: Job[bytes] = aead.submit_encrypt(nonce, b"text")
n: int = aead.encrypt_into(nonce, numpy.ones(3), b"x", numpy.ones(100))
many: tuple[list[bytes], list[bytes]] = aead.encrypt_many([nonce, nonce], [b"a", b"b"], [None, b"x"])
back: list[bytes] = aead.decrypt_many([nonce], many[0], many[1])
x: numpy.ndarray[Any, Any] = aead.encrypt(numpy.ones(12), numpy.ones(3))
y = aead.encrypt_many(numpy.ones((3, 12)), numpy.ones((3, 12)), out=numpy.ones((3, 12)), tags=bytearray(30))
t: bytes = Cipher("aes-ctr", bytes(16)).encrypt(bytes(16), b"text")
e: bytes = Cipher("aes-ecb", bytes(16)).encrypt(None, b"text")
d: list[bytes] = hash_many("sha256", [b"a"])
aead.encrypt(array.array("d"), mmap.mmap(-1, 5))
AESCCM(bytes(16), None)
"""

# Each line must be an error.
WRONG = """
aead.encrypt("text", b"")
aead.encrypt(b"", 5)
aead.encrypt(b"", b"", 7)
aead.encrypt("text", 5, 7)
aead.decrypt(b"", "text")
aead.encrypt(None, b"")
aead.encrypt(b"", None)
aead.encrypt(b"", [b""])
aead.encrypt_into(b"", b"", None, None)
aead.encrypt_into(b"", b"", None, "x")
aead.encrypt_many("text", [b""])
aead.encrypt_many([b""], ["text"])
aead.encrypt_many([b""], [5])
aead.submit_encrypt("text", 5, 7)
x: str = aead.encrypt(b"", b"")
Cipher("aes-ctr", bytes(16)).encrypt("text", b"")
Cipher("aes-ctr", bytes(16)).encrypt(b"", 5)
blake3("text")
hash_many("sha256", ["text"])
hash_many("sha256", 5)
AESGCM("text")
"""


def mypy(*arguments, cwd):
    pytest.importorskip("mypy")
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", *arguments], cwd=cwd,
                          capture_output=True, text=True, env={
        **os.environ, "MYPYPATH": str(pathlib.Path(lanecrypt.__file__).parents[1]),
        "MYPY_CACHE_DIR": str(cwd)})


def test_types(tmp_path, is_long):
    if not is_long:
        pytest.skip("takes long: only dev/test --full")
    done = mypy("-p", "lanecrypt", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    (tmp_path / "program.py").write_text(PROGRAM)
    done = mypy("program.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    (tmp_path / "wrong.py").write_text(PROGRAM.replace("count: int", "count: str").replace(
        '"pss"', '"none"'))
    done = mypy("wrong.py", cwd=tmp_path)
    assert done.stdout.count("error:") == 2, done.stdout


def test_types_of_results_and_wrong_arguments(tmp_path, is_long):
    if not is_long:
        pytest.skip("takes long: only dev/test --full")
    pytest.importorskip("numpy")
    (tmp_path / "returns.py").write_text(RETURNS)
    done = mypy("returns.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    start = "from lanecrypt import AESGCM, Cipher, blake3, hash_many\naead = AESGCM(bytes(16))"
    (tmp_path / "wrong.py").write_text(start + WRONG)
    done = mypy("wrong.py", cwd=tmp_path)
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if "error:" in line}
    assert found == {*range(3, 2 + len(WRONG.splitlines()))}, done.stdout
