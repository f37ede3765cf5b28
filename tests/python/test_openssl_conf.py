# SPDX-License-Identifier: Apache-2.0
"""openssl_conf(), tested with the real `openssl`."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

import lanecrypt
from lanecrypt import _openssl

OPENSSL = shutil.which("openssl")


@pytest.fixture(autouse=True)
def has_provider():
    if not (pathlib.Path(lanecrypt.__file__).parent / "lib" / "gpu.so").exists():
        pytest.skip("the package was built without the provider")


def openssl(configuration, *words, data=b""):
    return subprocess.run([OPENSSL, *words], input=data, capture_output=True, timeout=60, env={
        **os.environ, "OPENSSL_CONF": str(configuration)})


@pytest.mark.skipif(OPENSSL is None, reason="there is no openssl")
def test_it_turns_on_the_provider(tmp_path):
    path, stats = tmp_path / "openssl.cnf", tmp_path / "with a space $x#.json"
    text = lanecrypt.openssl_conf(path, in_process=True, devices="host", threshold_bytes=0,
                                  stats_file=str(stats))
    assert path.read_text() == text and list(tmp_path.iterdir()) == [path]
    listed = openssl(path, "list", "-providers").stdout.decode()
    assert "  gpu\n" in listed and "  default\n" in listed
    done = openssl(path, "enc", "-aes-128-ctr", "-K", "00" * 16, "-iv", "00" * 16,
                   data=bytes(100_000))
    assert done.returncode == 0, done.stderr
    assert done.stdout == lanecrypt.Cipher("aes-ctr", bytes(16)).encrypt(bytes(16), bytes(100_000))
    assert '"device_bytes":' in stats.read_text().replace(" ", "")


def test_without_settings_it_is_as_the_provider():
    assert "\nin_process = no\n" in lanecrypt.openssl_conf()
    assert "\nin_process = yes\n" in lanecrypt.openssl_conf(in_process=True)


@pytest.mark.parametrize("settings", [{"no_such": 1}, {"devices": "a\nb"}, {"cores": "8 "},
                                      {"stats_file": "/a\0"}])
def test_wrong_settings(tmp_path, settings):
    with pytest.raises(ValueError):
        lanecrypt.openssl_conf(tmp_path / "x", **settings)
    assert not list(tmp_path.iterdir())


def test_settings_of_wrong_types(tmp_path):
    """Converted to text they would be settings that no one means, such as the devices None."""
    for wrong in (None, 1.5, ["cuda:0"], b"cuda:0"):
        with pytest.raises(TypeError, match="^devices is a str, an int or a bool, not"):
            lanecrypt.openssl_conf(tmp_path / "x", devices=wrong)
    assert not list(tmp_path.iterdir())


def test_a_path_in_bytes(tmp_path):
    text = lanecrypt.openssl_conf(os.fsencode(tmp_path / "x"), in_process=False)
    assert [path.read_text() for path in tmp_path.iterdir()] == [text]


def test_all_settings_of_the_provider():
    source = pathlib.Path(__file__).parents[2] / "provider" / "settings.cpp"
    if not source.exists():
        pytest.skip("needs the provider's source")
    names = re.findall(r"[.]name = \"(\w+)\"", source.read_text())
    assert len(names) > 10 and sorted(names) == sorted(_openssl._SETTINGS)
    text = lanecrypt.openssl_conf(service="/a/socket", ml_dsa="always", slh_dsa=False)
    assert "\nservice = /a/socket\nml_dsa = always\nslh_dsa = no\n" in text


def test_removed_settings_are_accepted():
    text = lanecrypt.openssl_conf(keystream="always", keystream_after="1M", keystream_memory="8M")
    assert "\nkeystream = always\n" in text


def test_it_replaces_a_file_whole(tmp_path):
    path = tmp_path / "openssl.cnf"
    path.write_text("x" * 10_000)
    text = lanecrypt.openssl_conf(str(path), in_process=False)
    assert path.read_text() == text and "in_process = no\n" in text
    with pytest.raises(OSError):
        lanecrypt.openssl_conf(tmp_path / "none" / "x")


def test_it_leaves_no_part_and_deletes_none_of_others(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError):
        lanecrypt.openssl_conf(path)  # no file can replace a folder
    assert list(tmp_path.iterdir()) == [path]
    part = tmp_path / f"folder.{os.getpid()}.part"
    part.write_text("another's")
    with pytest.raises(FileExistsError):
        lanecrypt.openssl_conf(path)
    assert part.read_text() == "another's"
