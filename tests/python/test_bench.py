# SPDX-License-Identifier: Apache-2.0
"""The scripts of bench/python run, check what they measure, and write files of the form of
bench/results."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

SCRIPTS = pathlib.Path(__file__).parents[2] / "bench" / "python"


def results_of(script, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, str(SCRIPTS / script), "--small", "--seconds", "0.01",
                           "--json", str(tmp_path / "r.json")], env=environment,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return {row["name"]: row for row in json.loads((tmp_path / "r.json").read_text())["results"]}


def test_tensors_on_the_emulator(tmp_path):
    results = results_of("tensors.py", tmp_path)
    # Each result is accompanied by pyca's encrypt_into, or by encrypt if a version lacks that.
    assert any(name.startswith("aes-256-gcm.torch-4GiB.pyca") for name in results)
    for name in ("aes-256-gcm.torch-4GiB.host",
                 "aes-256-gcm.tink-1MiB.host", "chacha20-poly1305.segments-64KiB.host",
                 "python.call.host", "python.import"):
        assert results[name]["value"] > 0, name


def test_scale_on_the_emulator(tmp_path):
    pytest.importorskip("ray", reason="needs Ray (dev/ray-test brings it)")
    results = results_of("scale.py", tmp_path)
    for case in ("", "store.", "through."):
        for name in ("1-gpus", "2-gpus", "2-gpus.over-1"):
            row = results[f"ray.decrypt.{case}{name}"]
            assert 0 < row["min"] <= row["value"] <= row["max"], row
