# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt devices`, `lanecrypt bench` and the man page."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from cli_fixtures import (BUILD, FAILED, LANECRYPT, NO_DEVICE, REPOSITORY, USAGE, environment, fails, lanecrypt, ok,
                          openssl, report)
from conftest import EVERY_ANSWER
from provider_fixtures import EMULATORS_FORM


def listed(*words, **options):
    return json.loads(ok("devices", "--json", *words, **options).stdout)["devices"]


def test_json_has_every_field():
    devices = listed()
    host = next(device for device in devices if device["id"] == "host:0")
    assert [device["index"] for device in devices] == list(range(len(devices)))
    assert host["api"] == "host" and host["selected"] is True and host["is_gpu"] is False
    assert host["self_test"] == "not run" and host["reason"] == ""
    assert {"name", "driver", "memory_bytes", "compute_units"} <= host.keys()


def test_selection():
    assert not any(device["selected"] for device in listed(devices="none"))
    assert [d["id"] for d in listed("--devices", "host", devices="none") if d["selected"]] == ["host:0"]


def test_self_test_runs_on_demand():
    devices = listed("--test")
    assert next(d for d in devices if d["id"] == "host:0")["self_test"] == "passed"


def test_table():
    lines = ok("devices").stdout.decode().splitlines()
    assert re.fullmatch(r"INDEX +ID +NAME +MEMORY +DRIVER +SELF-TEST +SELECTED", lines[0])
    assert any(re.match(r"0 +host:0 .* not run +yes$", line) for line in lines[1:])


def test_every_device_here_gives_openssls_bytes(tmp_path):
    """The emulator, OpenCL and CUDA, each with many concurrent chunks."""
    plain, sealed, again = tmp_path / "plain", tmp_path / "sealed", tmp_path / "again"
    plain.write_bytes(os.urandom((3 << 20) + 7))
    words = ["-pbkdf2", "-k", "x", "--chunk", "131072", "-json", "-require-gpu"]
    for device in [d["id"] for d in listed("--test") if d["self_test"] == "passed"]:
        for cipher in ("aes-256-ctr", "aes-128-cbc", "aes-192-ecb"):
            if cipher.endswith("cbc"):
                openssl("enc", f"-{cipher}", "-pbkdf2", "-k", "x", "-in", plain, "-out", sealed)
            else:
                told = report(ok("enc", f"-{cipher}", *words, "-devices", device, "-in", plain, "-out", sealed))
                assert told["device"] == device and told["cpu_bytes"] == 0
                opened = openssl("enc", "-d", f"-{cipher}", "-pbkdf2", "-k", "x", "-in", sealed)
                assert opened.stdout == plain.read_bytes(), (device, cipher)
            told = report(ok("dec", f"-{cipher}", *words, "-devices", device, "-in", sealed, "-out", again))
            assert again.read_bytes() == plain.read_bytes(), (device, cipher)
            assert told["device"] == device and told["cpu_bytes"] == 0 and told["device_bytes"] >= 3 << 20


# Mesa's driver, which is made to report versions that are too old: without compute shaders.
def test_a_driver_of_opengl_that_is_too_old():
    variables = {"MESA_GLES_VERSION_OVERRIDE": "3.0", "MESA_GL_VERSION_OVERRIDE": "4.2"}
    mesa = [d["id"] for d in listed(devices=None) if d["api"] == "gl" and "Mesa" in d["name"]]
    if not mesa:
        pytest.skip("Mesa's OpenGL is not here")
    words = ("devices", "--devices", mesa[0], "--test")
    said = f"{mesa[0]}: the driver is too old: it has no OpenGL ES 3.1"
    done = lanecrypt(*words, "--json", env=variables)
    assert done.returncode == NO_DEVICE
    told = next(d for d in json.loads(done.stdout)["devices"] if d["id"] == mesa[0])
    assert told["self_test"] == "unusable" and told["reason"] == said
    assert said in lanecrypt(*words, env=variables).stdout.decode()
    fails(NO_DEVICE, said, "enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-devices", mesa[0], "-require-gpu",
          env=variables, stdin=b"abc")
    # Either OpenGL or OpenGL ES is enough.
    for name, version in variables.items():
        assert ok(*words, env={name: version}).returncode == 0


BROKEN = {"LANECRYPT_HOST_FAULT": "wrong-byte:0"}


def test_a_device_that_fails_its_self_test_says_why():
    done = lanecrypt("devices", "--test", "--json", env=BROKEN)
    assert done.returncode == NO_DEVICE
    assert b"did not pass its self-test" in done.stderr
    host = next(d for d in json.loads(done.stdout)["devices"] if d["id"] == "host:0")
    assert host["self_test"] == "unusable" and "wrong output of AES" in host["reason"]
    table = lanecrypt("devices", "--test", env=BROKEN).stdout.decode()
    assert "unusable" in table and "wrong output of AES" in table


def test_a_device_that_fails_its_self_test_is_not_used(tmp_path):
    words = ["enc", "-aes-256-ctr", "-pbkdf2", "-k", "x", "-out", tmp_path / "out"]
    fails(NO_DEVICE, "wrong output of AES", *words, "-require-gpu", env=BROKEN, stdin=b"abc")
    assert os.listdir(tmp_path) == []
    assert b'"device":"cpu"' in ok(*words, "-json", env=BROKEN, stdin=b"abc").stdout


def test_bench_is_a_program_of_its_own(tmp_path):
    alone = subprocess.run([BUILD / "bin" / "lanecrypt-bench", "--help"], capture_output=True, timeout=300)
    assert alone.returncode == 0 and b"lanecrypt bench [OPTIONS]" in alone.stdout
    assert ok("bench", "--help").stdout == alone.stdout
    # The command looks for the program next to its own file, whatever argv[0] is.
    (tmp_path / "link").symlink_to(LANECRYPT)
    linked = subprocess.run(["lanecrypt", "bench", "--help"], executable=tmp_path / "link", capture_output=True,
                            timeout=300)
    assert linked.stdout == alone.stdout


def test_bench_that_is_not_installed(tmp_path):
    shutil.copy(LANECRYPT, tmp_path)
    env = environment(LD_LIBRARY_PATH=str(BUILD / "lib"))
    done = subprocess.run([tmp_path / "lanecrypt", "bench", "aes"], capture_output=True, env=env, timeout=300)
    said = f"lanecrypt: {tmp_path}/lanecrypt-bench, which measures, is not installed"
    assert done.returncode == FAILED and done.stderr.decode().startswith(said), done
    (tmp_path / "lanecrypt-bench").write_bytes(b"")
    done = subprocess.run([tmp_path / "lanecrypt", "bench", "aes"], capture_output=True, env=env, timeout=300)
    assert done.returncode == FAILED and b"cannot run " in done.stderr and b"Permission denied" in done.stderr


@pytest.mark.full
def test_bench_writes_the_form_of_the_results(tmp_path):
    out = tmp_path / "results.json"
    # All of them take a minute on the emulator. Each checks its output, as on the GPU for which
    # they are meant.
    only = () if EVERY_ANSWER else ("--only", (
        "copy.upload.,aes-128-ctr.,aes-256-ctr.p,aes-128-ecb.card.,aes-128-cbc-encrypt.,"
        "aes-128-cfb-decrypt.card.,chacha20.card.,aes-128-ccm.card-,aes-128-ofb.card-mixed.,"
        "sm4-ctr.,camellia-128-ctr.,aria-128-ctr."))
    done = ok("bench", "aes", "--quick", "--json", "--out", out, *only, env=EMULATORS_FORM, timeout=400)
    assert json.loads(done.stdout) == json.loads(out.read_text())
    told = json.loads(done.stdout)
    assert set(told["machine"]) == {"gpu", "driver", "cpu", "cores"} and told["machine"]["gpu"]
    assert set(told["software"]) == {"commit", "compiler", "openssl"}
    results = {}
    for result in told["results"]:
        assert {"name", "value", "unit", "runs", "min", "max"} <= result.keys()
        assert 0 < result["min"] <= result["value"] <= result["max"] and result["runs"] >= 3
        assert result["unit"] == "GB/s"
        results.setdefault(result["name"], []).append(result)
    for name in ("aes-128-ctr.card.host", "aes-256-ctr.pinned.host", "aes-256-ctr.pageable.host",
                 "aes-128-ecb.card.host", "aes-128-cbc-encrypt.card.host", "copy.upload.host",
                 "aes-128-cbc-encrypt.pinned.host", "aes-128-ctr.openssl", "aes-128-cbc-encrypt.openssl",
                 "aes-128-cfb-decrypt.card.host", "chacha20.card.host", "aes-128-ccm.card-streams.host",
                 "aes-128-ofb.card-mixed.host", "aes-128-ccm.card-mixed.host",
                 *(f"{cipher}-ctr.{how}" for cipher in ("sm4", "camellia-128", "aria-128")
                   for how in ("card.host", "pinned.host", "pageable.host", "openssl", "openssl-cores"))):
        assert len(results[name]) == 1, name
    assert results["aes-128-cbc-encrypt.card.host"][0]["streams"] > 1
    assert len(results["aes-128-ctr.card-sweep.host"]) > 2


# Every byte is wrong from the first download after the self-test on. Each kind of check finds that
# in the first row that it looks at.
@pytest.mark.parametrize("only, said", [
    ("aes-128-ctr.card.", b"aes-128-ctr.card on host: the output is not OpenSSL's"),
    ("copy.", b"copies on host changed the data"),
    ("aes-128-gcm.card.", b"aes-128-gcm.card.host: the plaintext is not what it was"),
])
def test_bench_finds_wrong_output(only, said):
    done = lanecrypt("bench", "aes", "--quick", "--quiet", "--only", only,
                     env={"LANECRYPT_HOST_FAULT": "wrong-blocks:0"}, timeout=400)
    assert done.returncode == FAILED
    assert said in done.stderr


def names_of_bench(what, *words):
    told = json.loads(ok("bench", what, "--quick", "--json", *words, timeout=400).stdout)
    assert "emulator" in told["machine"]["gpu"] and told["machine"]["driver"]
    return {result["name"] for result in told["results"]}


@pytest.mark.full
def test_bench_of_kernels_runs_every_form():
    only = () if EVERY_ANSWER else (
        "--only", "aes-128-ctr.,aes-128-cbc-encrypt.,aes-128-ofb.,aes-128-gcm.,chacha20-poly1305.")
    names = names_of_bench("kernels", *only)
    for form in ("table4", "table1", "bitslice"):
        assert {f"aes-128-ctr.{form}.host", f"aes-128-cbc-encrypt.{form}.host",
                f"aes-128-ofb.{form}.host"} <= names
    # The emulator's thread blocks are too small for matrices.
    assert {"aes-128-gcm.integer.host", "chacha20-poly1305.integer.host"} <= names


# Cases that no OpenGL device supports.
@pytest.mark.parametrize("what, only, measured, left_out", [
    ("aes", "aes-128-xts.,aes-128-ctr.card.,gcm.card.,ccm.card-mixed",
     {"aes-128-ctr.card.gl"}, ["AES-128-XTS encryption", "AES-128-CCM encryption",
                               "AES-128-GCM encryption", "AES-256-GCM encryption"]),
    ("kernels", "aes-128-xts.,aes-128-ecb.,aes-128-gcm.integer",
     {"aes-128-ecb.table1.gl"}, ["AES-128-XTS encryption", "AES-128-GCM encryption"]),
])
def test_bench_leaves_out_what_the_device_does_not_do(what, only, measured, left_out):
    if not any(d["api"] == "gl" for d in listed(devices=None)):
        pytest.skip("there is no EGL here, or it has no device")
    words = ["bench", what, "--devices", "gl:0", "--quick", "--only", only, "--json"]
    done = ok(*words, timeout=400)
    names = {r["name"] for r in json.loads(done.stdout)["results"]}
    assert {name for name in names if name.endswith(".gl")} == measured
    # Each is named once, though many cases need it.
    said = [line for line in done.stderr.decode().splitlines() if "left out: gl:0 does no" in line]
    assert said == [f"lanecrypt: left out: gl:0 does no {each}" for each in left_out]


def test_bench_of_timing_tells_keys_from_data():
    runs = ("ctr", "cbc-encrypt", "cfb-decrypt", "gcm-packets-decrypt", "ccm", "xts-decrypt")
    only = () if EVERY_ANSWER else ("--only", ",".join(f"aes-128-{run}.timing" for run in runs))
    names = names_of_bench("timing", *only)
    for what in ("keys", "data", "control"):
        for run in runs:
            assert {f"aes-128-{run}.timing-{what}-t.host", f"aes-128-{run}.timing-{what}-ns.host"} <= names


def test_bench_of_hashes():
    names = names_of_bench("hash")
    assert {"sha-256.openssl", "sha-256.openssl-all-cores"} <= names
    for where in ("card", "pinned"):
        assert {f"sha-256.{where}-messages-4KiB-x16.host", f"blake3.{where}-64KiB.host"} <= names


def test_bench_of_hashes_finds_a_wrong_digest():
    done = lanecrypt("bench", "hash", "--quick", "--quiet", "--only", "sha-256.card",
                     env={"LANECRYPT_HOST_FAULT": "wrong-blocks:0"}, timeout=400)
    assert done.returncode == FAILED and b"a digest is not the CPU's" in done.stderr, done


def test_bench_of_rsa_names_its_device():
    names = names_of_bench("rsa")
    assert {"rsa-2048.private-batch.host", "rsa-1024.keygen-one.host",
            "rsa-1024.keygen-bulk.host"} <= names
    for case in ("lone", "threads", "threads-own-keys", "async"):
        assert {f"rsa-1024.evp-{case}.host", f"rsa-1024.evp-{case}.openssl"} <= names


def test_bench_through_evp_counts_where_operations_ran():
    done = ok("bench", "rsa", "--only", "evp-threads.", "--json", timeout=400)
    openssl_alone, host = json.loads(done.stdout)["results"]
    assert [openssl_alone["name"], host["name"]] == ["rsa-1024.evp-threads.openssl", "rsa-1024.evp-threads.host"]
    assert openssl_alone["value"] > 0 and openssl_alone["cores_busy"] > 0 and openssl_alone["streams"] == 4
    assert host["on_device"] > 0 and host["on_cpu"] == 0


def test_bench_of_pq_takes_other_openssls(tmp_path):
    fails(USAGE, "bench aes takes no --libcrypto", "bench", "aes", "--libcrypto", LANECRYPT)
    fails(USAGE, "cannot open shared object file", "bench", "pq", "--libcrypto", tmp_path / "libcrypto.so")
    fails(USAGE, "has no EVP_PKEY_Q_keygen()", "bench", "pq", "--libcrypto", BUILD / "lib" / "liblanecrypt.so")


def test_bench_takes_the_provider_that_it_is_told(tmp_path):
    words = ["bench", "rsa", "--only", "evp-lone"]
    fails(USAGE, "bench aes takes no --module", "bench", "aes", "--module", LANECRYPT)
    fails(FAILED, "cannot read the provider", *words, "--module", tmp_path / "gpu.so")
    fails(FAILED, "OpenSSL cannot load the provider from", *words, "--module", LANECRYPT)
    # Some of these characters have a meaning in OpenSSL's configuration file.
    odd = tmp_path / "a $folder#"
    odd.mkdir()
    for name in ("gpu.so", "liblanecrypt.so"):
        for path in (BUILD / "lib").glob(name + "*"):
            shutil.copy(path, odd, follow_symlinks=False)
    done = ok(*words, "--json", "--module", odd / "gpu.so", timeout=400)
    assert [r["name"] for r in json.loads(done.stdout)["results"]] == ["rsa-1024.evp-lone.openssl",
                                                                       "rsa-1024.evp-lone.host"]


def test_bench_of_nothing_is_an_error(tmp_path):
    for what in ("aes", "rsa", "host", "kernels"):
        fails(USAGE, f"bench {what} measures nothing here that has xyz or abc in its name", "bench", what,
              "--quick", "--only", "xyz,abc", "--out", tmp_path / "results.json")
    assert os.listdir(tmp_path) == []


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    done = ok("bench", "papers", "--quick", "--json", "--out", folder, timeout=600)
    assert json.loads(done.stdout) == json.loads((folder / "papers.json").read_text())
    # The temporary files of paper R are gone.
    assert sorted(os.listdir(folder)) == ["papers.json", "papers.txt"]
    papers = json.loads(done.stdout)
    # The table says where and when it was measured.
    heading = (folder / "papers.txt").read_text().splitlines()[:2]
    assert papers["machine"]["gpu"] in heading[0] and papers["date"] in heading[1]
    return papers


@pytest.mark.xdist_group("papers")
def test_bench_papers_repeats_every_paper(papers):
    assert papers["machine"]["gpu"] and re.fullmatch(r"\d{4}-\d\d-\d\d", papers["date"])
    results = {}
    for result in papers["results"]:
        assert result["runs"] >= 1 and result["min"] <= result["value"] <= result["max"], result
        results[result["name"]] = result
    names = {"M.aes-128-ecb.kernel.host", "M.aes-256-ecb-decrypt.total.host", "M.aes-128-ecb.openssl",
             "W.nist-examples.host", "W.aes-128-ecb.packet-by-packet.host",
             "W.aes-128-ecb-decrypt.packets-at-once.host", "S.aes-128-ecb.there-and-back.host",
             "S.aes-128-cbc-decrypt.there-and-back-loaded.host",
             "S.aes-128-ecb.there-and-back-loaded.host", "S.aes-128-cbc-encrypt.openssl-loaded",
             "S.rsa-1024.keys.host", "S.rsa-1024.private.host", "S.rsa-1024.private.openssl", "R.grid.2x1x10.host", "R.card.host.cpu-over-time"}
    for number in range(1, 9):
        places = [where for where in ("ram", "disk") if f"R.file-{number}.{where}.null" in results]
        assert places, number
        for way in ("openssl", "host", "copies.host", "cpu.host"):
            names |= {f"R.file-{number}.{where}.{way}" for where in places}
    assert names <= results.keys()
    assert results["R.file-1.disk.openssl" if "R.file-1.disk.openssl" in results else
                   "R.file-1.ram.openssl"]["bytes"] % 16 == 0
    assert results["W.nist-examples.host"]["value"] == 24
    for name, result in results.items():
        assert (result.get("load") in ("threads", "stress-ng")) == ("-loaded" in name), name
    # Every packet is sent alone once. A tenth of them makes a run.
    alone, at_once = (results[f"W.aes-128-ecb.{how}.host"]
                      for how in ("packet-by-packet", "packets-at-once"))
    assert alone["streams"] == at_once["streams"] and alone["runs"] == 10
    assert results["W.aes-128-ecb.packets.openssl"]["published"] == 0.06621
    assert len(results["R.card.host.cpu-over-time"]["series"]) >= 1


STRESS_NG = '''#!/bin/sh
echo "$$ $*" >>"$0.started"
exec sleep {seconds}
'''


@pytest.mark.full
@pytest.mark.parametrize("seconds, load", ((100, "stress-ng"), (0, "threads")))
def test_bench_papers_takes_stress_ng_as_load(tmp_path, seconds, load):
    stress_ng = tmp_path / "bin" / "stress-ng"
    stress_ng.parent.mkdir()
    stress_ng.write_text(STRESS_NG.format(seconds=seconds))
    stress_ng.chmod(0o755)
    done = ok("bench", "papers", "S", "--quick", "--json", "--out", tmp_path / "out",
              env={"PATH": f"{stress_ng.parent}:{os.environ['PATH']}"}, timeout=300)
    for result in json.loads(done.stdout)["results"]:
        assert result.get("load") == (load if "loaded" in result["name"] else None), result
    assert (b"stress-ng ended at once" in done.stderr) == (seconds == 0)
    started = (tmp_path / "bin" / "stress-ng.started").read_text().splitlines()
    assert len(started) == 4  # ECB and CBC, both directions
    for line in started:
        process, *arguments = line.split()
        assert arguments[:2] == ["--cpu", str(os.cpu_count())]
        assert not os.path.exists(f"/proc/{process}"), "it has outlived the command"


@pytest.mark.full
def test_bench_papers_leaves_out_what_takes_too_long(tmp_path):
    done = ok("bench", "papers", "S", "--quick", "--json", "--devices", "host",
              "--out", tmp_path, env={"LANECRYPT_HOST_FAULT": "pace:18000000"}, timeout=300)
    assert b"is left out" in done.stderr


@pytest.mark.xdist_group("papers")
def test_bench_papers_has_every_way_of_opengl(papers):
    if not any(d["api"] == "gl" for d in listed(devices=None)):
        pytest.skip("there is no EGL here, or it has no device")
    names = {result["name"] for result in papers["results"]}
    assert {"H.aes-128-ctr.compute.card.gl", "H.aes-128-ctr.integer.card.gl",
            "M.aes-256-ecb.total.table8.gl", "R.file-4.ram.table8.gl"} <= names
    for way in ("compute", "integer", "table8-multi-rot", "table4-multi-rot"):
        assert {f"H.aes-128-ecb.{way}.card.gl", f"H.aes-128-ecb.{way}.there-and-back.gl"} <= names
    for way in ("table8", "table4", "integer"):
        assert {f"H.xor.{way}.card.gl", f"H.xor.{way}.there-and-back.gl", f"H.idle.{way}.gl"} <= names


def write_papers(*arguments):
    return subprocess.run([sys.executable, "-B", REPOSITORY / "bench" / "write_papers.py", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)


@pytest.mark.xdist_group("papers")
def test_tables_of_papers_come_from_the_json(papers, tmp_path):
    (tmp_path / "papers.json").write_text(json.dumps(papers))
    names = ("machine", "R-files", "R-load", "R-grid", "M-sizes", "W-packets", "S-sizes", "S-summary",
             "S-keys", "S-private", "M-peak")
    document = tmp_path / "papers.md"
    document.write_text("before\n" + "".join(f"<!-- table {name} -->\nold\n<!-- end -->\n" for name in names))
    arguments = ("--api", "host", "--document", document, tmp_path / "papers.json")
    assert write_papers("--check", *arguments).returncode != 0
    done = write_papers(*arguments)
    assert done.returncode == 0, done.stderr
    # No call of 8 MiB was made here, so that table stays as it was.
    assert done.stderr.decode().count("no file has its figures") == 1 and b"M-peak" in done.stderr
    text = document.read_text()
    assert text.startswith("before\n") and text.count("old\n") == 1
    assert papers["machine"]["gpu"] in text and papers["date"] in text
    assert "| NIST's examples right, of 24 | all | 24 |" in text
    assert "| 1024 | 1 | 0.107 / 0.038 |" in text
    assert "| GPU, one by one | 13.47 |" in text
    for line in text.splitlines():
        assert not line.startswith("|") or "None" not in line, line
    assert write_papers("--check", *arguments).returncode == 0
    document.write_text("<!-- table Q -->\n<!-- end -->\n")
    assert b"no table 'Q'" in write_papers(*arguments).stderr


@pytest.mark.xdist_group("papers")
def test_plots_of_papers_come_from_the_json(papers, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "papers.json").write_text(json.dumps(papers))
    out = tmp_path / "plots"

    def draw(*arguments):
        return subprocess.run([sys.executable, "-B", REPOSITORY / "bench" / "draw_papers.py", "--out", out,
                               *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)

    done = draw("--api", "host", tmp_path / "papers.json")
    assert done.returncode == 0, done.stderr
    has_gl = any(d["api"] == "gl" for d in listed(devices=None))
    drawn = {"m", "r", "s", "w"} | ({"h"} if has_gl else set())
    assert sorted(os.listdir(out)) == sorted(f"papers-{letter}.svg" for letter in drawn)
    assert (b"papers-h.svg: no file has its figures" in done.stderr) == (not has_gl)
    texts = {letter: (out / f"papers-{letter}.svg").read_text() for letter in drawn}
    for letter, text in texts.items():
        assert papers["machine"]["gpu"] in text and papers["date"] in text, letter
    # The legend names exactly what has a curve.
    assert "kernel, encryption" in texts["m"] and "OpenSSL, one core" in texts["m"]
    assert "device, loaded" in texts["s"] and "1024 bits, device" in texts["s"]
    assert "4096 bits" not in texts["s"]
    # The same JSON gives the same picture.
    assert draw("--api", "host", tmp_path / "papers.json").returncode == 0
    assert {letter: (out / f"papers-{letter}.svg").read_text() for letter in drawn} == texts
    # For devices without figures it draws OpenSSL's curves.
    assert draw("--api", "cuda", tmp_path / "papers.json").returncode == 0
    assert "kernel, encryption" not in (out / "papers-m.svg").read_text()


def test_docs_have_the_figures_of_the_papers_json():
    if not list((REPOSITORY / "bench" / "results").glob("*papers*.json")):
        pytest.skip("bench/results has no results of papers")
    done = write_papers("--check")
    assert done.returncode == 0 and done.stderr == b"", done.stderr


def test_bench_papers_without_opengl_says_so(tmp_path):
    done = ok("bench", "papers", "H", "--quick", "--json",
              env={"__EGL_VENDOR_LIBRARY_DIRS": str(tmp_path)})
    assert b"no device of OpenGL is here" in done.stderr
    assert json.loads(done.stdout)["results"] == []


def test_bench_papers_finds_wrong_output(tmp_path):
    done = lanecrypt("bench", "papers", "W", "--quick", "--quiet", "--out", tmp_path,
                     env={"LANECRYPT_HOST_FAULT": "wrong-byte:110"}, timeout=300)
    assert done.returncode == 1 and b"is not OpenSSL's" in done.stderr
    assert os.listdir(tmp_path) == []


def test_bench_papers_of_something_else(tmp_path):
    fails(USAGE, "there is no paper 'Q': there are R, H, M, W and S", "bench", "papers", "Q")
    fails(USAGE, "'aes' has no part 'M'", "bench", "aes", "M")
    fails(USAGE, "bench papers takes no --only", "bench", "papers", "--only", "ecb")
    (tmp_path / "file").write_bytes(b"")
    fails(USAGE, "cannot make the folder", "bench", "papers", "--out", tmp_path / "file")


def test_bench_of_something_else():
    fails(USAGE, "there is no benchmark 'des'", "bench", "des")
    fails(USAGE, "WHAT is missing", "bench")
    fails(USAGE, "bench aes takes no --launches", "bench", "aes", "--launches", "100")


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not here")
def test_man_page_has_no_warnings_and_every_option():
    page = REPOSITORY / "docs" / "lanecrypt.1"
    done = subprocess.run(["man", "--warnings", "-l", str(page)], capture_output=True, text=True,
                          env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"})
    if "minimized" in done.stdout:
        pytest.skip("man is a stand-in here, on a system without manual pages")
    assert done.returncode == 0 and done.stderr == ""
    text = done.stdout.replace("\u2010", "-")
    for command in ("enc", "dec", "hash", "genrsa", "slh-dsa keygen", "slh-dsa public",
                    "slh-dsa sign", "slh-dsa verify", "devices", "bench", "tune"):
        assert f"lanecrypt {command}" in text, command
        for option in re.findall(r"--([a-z0-9-]+)", ok(*command.split(), "--help").stdout.decode()):
            if option in ("help", "encrypt", "decrypt", "passphrase", "key", "salt-hex", "print-key",
                          "print-key-only", "device", "cipher", "version"):
                continue  # shown under their short names
            assert re.search(rf"-{option}\b", text), option


@pytest.mark.parametrize("variables, words", [
    ({"LD_LIBRARY_PATH": "{empty}"}, ["no libEGL.so.1", "Debian's packages libegl1 and libgles2",
                                      "libopengl0 or libgl1"]),
    ({"__EGL_VENDOR_LIBRARY_DIRS": "{empty}"}, ["EGL finds no driver of OpenGL",
                                                "libegl-mesa0 and libgl1-mesa-dri"]),
])
def test_without_opengl_it_says_what_to_install(tmp_path, variables, words):
    if not any(device["api"] == "gl" for device in listed(devices=None)):
        pytest.skip("needs OpenGL: there is no device")
    # Files that the loader does not accept as libraries.
    for name in ("libEGL.so.1", "libEGL.so"):
        (tmp_path / name).write_text("not a library")
    changed = {name: value.format(empty=tmp_path) for name, value in variables.items()}
    for word in words:
        fails(NO_DEVICE, word, "devices", "--devices", "gl:0", env=changed)
    assert not any(device["api"] == "gl" for device in listed(env=changed, devices=None))
