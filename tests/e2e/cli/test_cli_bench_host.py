# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt bench host`, on two emulators."""

import json
import os
import re
import subprocess
import sys

import pytest

from cli_fixtures import FAILED, LANECRYPT, REPOSITORY, USAGE, fails, ok

pytestmark = pytest.mark.full

PASSED = [f"aes-256-{mode}.pinned-to-pinned" for mode in ("ctr", "xts-4096", "cbc-decrypt", "gcm")]
STREAMS = [f"aes-{bits}-cbc-encrypt.16x16KiB-pinned.default" for bits in (128, 256)]
IDLE = ["aes-128-ctr.idle.openssl",
        *(f"aes-128-ctr.idle-{way}.{who}" for way in ("pinned", "pageable", "evp") for who in ("host", "host-1"))]
UPDATES = [f"aes-128-ctr.evp-update-{how}-4KiB-pages.default" for how in ("in-place", "apart")]
CIPHERS = ("sm4", "camellia-128", "aria-128")
SLOW_UPDATES = [f"{cipher}-ctr.evp-in-place" for cipher in CIPHERS]
CORES = [f"{how}-4KiB-pages" for how in ("aes-128-ctr.ordinary-in-place", "aes-128-ctr.ordinary-apart",
                                         "aes-256-cbc-decrypt.ordinary-in-place", "aes-256-xts-4096.ordinary-in-place")]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    out = tmp_path_factory.mktemp("host") / "results.json"
    done = ok("bench", "host", "--quick", "--json", "--out", out, env={"LANECRYPT_HOST_DEVICES": "2"}, timeout=400)
    assert json.loads(done.stdout) == json.loads(out.read_text())
    return json.loads(done.stdout)


@pytest.mark.xdist_group("bench_host")
def test_bench_host_measures_everyone_in_turn(told):
    assert "emulator" in told["machine"]["gpu"] and told["machine"]["cores"] > 0
    results = {}
    for result in told["results"]:
        assert 0 <= result["min"] <= result["value"] <= result["max"], result
        assert result["min"] > 0 or ".on-" in result["name"], result
        results.setdefault(result["name"], []).append(result)
    devices = ("host", "host-1")
    rows = {f"{row}.default.{who}": 2 for row in PASSED for who in (*devices, "openssl", "openssl-cores")}
    rows |= {f"{row}.{who}": 1 for row in STREAMS for who in (*devices, "openssl", "openssl-cores")}
    rows |= {f"{row}.{who}": 1 for row in UPDATES for who in (*devices, "openssl", "own-choice")}
    rows |= {f"{row}.{who}": 1 for row in SLOW_UPDATES
             for who in (*devices, "openssl", "openssl-cores", "own-choice")}
    rows |= {f"{row}.{who}": 1 for row in CORES for who in ("openssl", "cores")}
    rows |= {f"{row}.verify-{how}.{who}": 1 for row in PASSED for how in ("sampled", "off", "full")
             for who in devices}
    for name, sizes in rows.items():
        rates, cpu = results.pop(name), results.pop(name + ".cpu")
        assert len({rate["bytes"] for rate in rates}) == len(rates) == len(cpu) == sizes, name
        for rate, time in zip(rates, cpu):
            assert rate["unit"] == "GB/s" and time["unit"] == "ms/GB" and time["bytes"] == rate["bytes"]
            assert rate["runs"] == time["runs"] >= 5 and rate["clock"] == "wall" and rate["cores_busy"] > 0
            # OpenSSL ran for comparison with each of these.
            assert ("over_openssl" in rate) == ("verify" not in name), name
            assert rate.get("streams") == (16 if "x16KiB" in name else None)
    for name in (f"{row}.{who}" for row in STREAMS for who in devices):
        (submit,) = results.pop(name + ".submit")
        assert submit["unit"] == "ms" and submit["streams"] == 16 and submit["runs"] >= 5
    # Here the provider could only choose what is slower than OpenSSL, and the data are too few for
    # it to look for a device.
    for name in (f"{row}.own-choice.on-{side}" for row in (*UPDATES, *SLOW_UPDATES) for side in ("cores", "devices")):
        (share,) = results.pop(name)
        assert share["unit"] == "%" and share["max"] == 0
    (over_one,) = results.pop("aes-128-ctr.card-over-one.all")
    assert over_one["unit"] == "x" and over_one["streams"] == 2
    one, both = (results.pop(f"aes-128-ctr.card{how}.all")[0] for how in ("-one", ""))
    assert over_one["value"] == pytest.approx(both["value"] / one["value"])
    assert both["bytes"] == 2 * one["bytes"]
    assert results.keys() == set(IDLE)
    for name in IDLE:
        # One rate is the requested one, or as close as possible. The other is as fast as possible.
        assert {rate["unit"] for rate in results[name]} == {"% idle"} and len(results[name]) == 2
        assert all(rate["gb_per_s"] > 0 and rate["bytes"] > 0 for rate in results[name])


# One bit is too little for the library's own samples to find. With GCM the wrong download may be
# that of its sums: then the tag is wrong.
@pytest.mark.parametrize("only, run", [
    (PASSED[0] + ".default.host", 3), (PASSED[3] + ".default.host", 3), (STREAMS[0] + ".host", 3),
    (UPDATES[0] + ".host", 3), (PASSED[1] + ".verify-off", 3), ("aes-128-ctr.card.all", 0), ("idle-pageable", "0+")])
def test_bench_host_finds_one_wrong_bit_of_one_run(only, run):
    env = {"LANECRYPT_HOST_FAULT": f"flip-bit:{run}", "LANECRYPT_HOST_DEVICES": "2"}
    fails(FAILED, "is not OpenSSL's", "bench", "host", "--quick", "--quiet", "--only", only, env=env)


def test_bench_host_takes_the_provider_that_it_is_told():
    words = ["bench", "host", "--quick", "--only", "evp-update-apart", "--module"]
    fails(FAILED, "OpenSSL cannot load the provider from", *words, LANECRYPT)
    fails(FAILED, "cannot read the provider", *words, LANECRYPT.parent / "no.so")


def test_bench_host_runs_the_programs_on_files(tmp_path):
    words = ["bench", "host", "--quick", "--only", "enc-file", "--dir"]
    done = ok(*words, tmp_path, "--json")
    results = {result["name"]: result for result in json.loads(done.stdout)["results"]}
    names = {re.sub(r"-ram-disk(-huge-pages)?", "", name) for name in results}
    assert names == {f"aes-256-ctr.enc-file.{who}{what}" for who in ("openssl", "openssl-bufsize-1M", "own-choice", "host")
                     for what in ("", ".cpu")}
    # They were measured in the programs, which are other processes.
    assert all(result["value"] > 0 and result["bytes"] == 1 << 20 for result in results.values())
    assert os.listdir(tmp_path) == []
    fails(FAILED, "cannot make a folder", *words, tmp_path / "none")
    fails(FAILED, "the output is not OpenSSL's", *words, tmp_path, env={"LANECRYPT_HOST_FAULT": "flip-bit:0"})
    assert os.listdir(tmp_path) == []
    fails(USAGE, "bench aes takes no --dir", "bench", "aes", "--dir", tmp_path)


@pytest.mark.xdist_group("bench_host")
def test_plot_of_what_is_left_of_the_cpu(told, tmp_path):
    pytest.importorskip("matplotlib")

    def draw(results):
        (tmp_path / "results.json").write_text(json.dumps({**told, "results": results}))
        return subprocess.run([sys.executable, "-B", REPOSITORY / "bench" / "draw_plots.py", "--out", tmp_path,
                               tmp_path / "results.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)

    # The plot shows CUDA's figures.
    results = [{**result, "name": result["name"].replace(".host", ".cuda")} for result in told["results"]]
    done = draw(results)
    assert done.returncode == 0 and b"host-cpu.svg" in done.stdout, done.stderr
    text = (tmp_path / "host-cpu.svg").read_text()
    for label in ("GPU, pinned memory", "GPU, ordinary memory", "OpenSSL alone", told["machine"]["gpu"]):
        assert label in text, label
    # It draws the lines for which there are figures, but nothing without OpenSSL's.
    done = draw([result for result in results if "idle-evp" not in result["name"]])
    assert b"host-cpu.svg" in done.stdout, done.stderr
    assert "EVP" not in (tmp_path / "host-cpu.svg").read_text()
    done = draw([result for result in results if "idle.openssl" not in result["name"]])
    assert b"host-cpu.svg: no file has its figures" in done.stderr
