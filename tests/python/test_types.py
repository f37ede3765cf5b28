# SPDX-License-Identifier: Apache-2.0
"""The types that the package tells are right, by mypy."""

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
