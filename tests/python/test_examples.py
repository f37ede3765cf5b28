# SPDX-License-Identifier: Apache-2.0
"""The scripts of examples/python run unchanged, with PyTorch on a GPU or on the CPU."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "python"


def has_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_it_runs(path, tmp_path):
    if not has_module("torch"):
        pytest.skip("needs PyTorch")
    command = [sys.executable, str(path)]
    if path.stem == "checkpoint" and not has_module("torch.distributed.checkpoint"):
        command.insert(1, str(pathlib.Path(__file__).with_name("early_checkpoint.py")))
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=tmp_path, stdin=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path),
             "PYTHONPATH": os.pathsep.join(folder for folder in sys.path if folder)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "there and back, on " in done.stdout


def test_there_are_the_three():
    assert {path.stem for path in FOLDER.glob("*.py")} >= {"tensor", "kv_cache", "checkpoint"}
