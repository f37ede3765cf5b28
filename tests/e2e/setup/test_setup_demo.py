# SPDX-License-Identifier: Apache-2.0
"""dev/demo shows a job on a device, and it can fail."""

import collections
import importlib.util
import os
import subprocess

import pytest

from provider_fixtures import EMULATORS_FORM


@pytest.fixture
def steps(repository):
    spec = importlib.util.spec_from_file_location("demo_steps",
                                                  repository / "dev" / "demo_steps.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def demo(repository, build, devices):
    """Runs dev/demo. devices: None lets it choose."""
    if build != repository / "build":
        pytest.skip("dev/demo runs what lies in build/, and another build is under test")
    environment = {k: v for k, v in os.environ.items() if k != "LANECRYPT_DEVICES"}
    if devices is not None:
        environment.update(EMULATORS_FORM, LANECRYPT_DEVICES=devices)
    return subprocess.run([repository / "dev" / "demo", "--no-build", "--mib", "8"],
                          env=environment, capture_output=True, text=True, timeout=600, check=False)


def test_it_shows_the_job(repository, build):
    done = demo(repository, build, "host")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Every file came back byte for byte." in done.stdout
    assert "host:0" in done.stdout and " NO" not in done.stdout
    # First comes the result without any setting: no device.
    first, then = done.stdout.split("On host, as LANECRYPT_DEVICES says.")
    assert "host:0" not in first and "openssl enc, gpu: no setting " in first
    assert "gpu: in_process = yes, threshold_bytes = 1M " in then and "GB/s" not in then
    if len(os.sched_getaffinity(0)) > 1:
        row = next(line for line in first.splitlines() if "Python, gpu: cores = " in line)
        assert row.endswith(" yes") and " cores " in row.split("cores = ")[1]


@pytest.mark.full
def test_it_takes_opencl_on_the_cpu_where_there_is_no_gpu(repository, build, devices):
    """A user without a GPU that names no device sees this."""
    usable = [d for d in devices if not d["reason"]]
    if any(d["is_gpu"] for d in usable):
        pytest.skip("there is a GPU here, which the demo takes instead")
    opencl = [d for d in usable if d["api"] == "opencl"]
    if not opencl:
        pytest.skip("there is no OpenCL device here")
    done = demo(repository, build, None)
    assert done.returncode == 0, done.stdout + done.stderr
    says = (f"There is no GPU here. OpenCL on the CPU ({', '.join(d['name'] for d in opencl)}) "
            "stands in for one: it shows that\na device's bytes are right, and nothing of how fast "
            "a GPU is.")
    first, then = done.stdout.split(says)
    assert "opencl" not in first and "GB/s" in first and "GB/s" not in then
    rows = [line for line in then.splitlines() if line.startswith("  lanecrypt ")]
    assert len(rows) == 3
    for row in rows:
        assert " opencl:0 " in row and row.endswith(" yes"), row
    assert "Every file came back byte for byte." in done.stdout and " NO" not in done.stdout


def test_it_fails_where_nothing_ran_on_a_device(repository, build):
    done = demo(repository, build, "none")
    assert done.returncode == 1
    assert "FAILED: lanecrypt enc -aes-256-ctr ran no byte on a device" in done.stdout


def test_a_byte_that_differs_is_seen(steps, tmp_path):
    show = steps.Demo(tmp_path, [])
    (tmp_path / "a").write_bytes(b"same" * 1000)
    (tmp_path / "b").write_bytes(b"same" * 999 + b"sama")
    row = {"step": "a step"}
    with pytest.raises(steps.Failed, match="a step"):
        show.compare(tmp_path / "a", tmp_path / "b", row)
    assert row["same"] is False


def test_the_four_kinds_of_content(steps, tmp_path):
    path = tmp_path / "plain"
    steps.write_contents(path, 4 << 20)
    whole = path.read_bytes()
    first, second, third, fourth = (whole[n << 20:(n + 1) << 20] for n in range(4))
    assert first == bytes(range(256)) * 4096
    assert second == b"\xaa" * (1 << 20)
    # Random bytes from a range that grows: later bytes may be larger.
    assert max(third[: 1 << 12]) == 0 and max(third[1 << 19: (1 << 19) + 4096]) in (126, 127, 128)
    assert len(collections.Counter(fourth)) == 256
