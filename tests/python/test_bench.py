# SPDX-License-Identifier: Apache-2.0
"""bench/python/tensors.py runs, checks what it measures, and writes what bench/results holds."""

import json
import os
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).parents[2] / "bench" / "python" / "tensors.py"


def test_it_runs_on_the_emulator(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(SCRIPT), "--small", "--seconds", "0.01", "--json",
                           str(tmp_path / "r.json")], env=environment, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    results = {row["name"]: row for row in json.loads((tmp_path / "r.json").read_text())["results"]}
    # Beside each stands pyca's encrypt_into, or encrypt where a version lacks that.
    assert any(name.startswith("aes-256-gcm.torch-4GiB.pyca") for name in results)
    for name in ("aes-256-gcm.torch-4GiB.host",
                 "aes-256-gcm.tink-1MiB.host", "chacha20-poly1305.segments-64KiB.host",
                 "python.call.host", "python.import"):
        assert results[name]["value"] > 0, name
