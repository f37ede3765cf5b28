# SPDX-License-Identifier: Apache-2.0
"""dev/bench in a separate tree, with the present build."""

import json
import os
import shutil
import subprocess

import pytest
from cli_fixtures import BUILD, REPOSITORY


@pytest.fixture
def tree(tmp_path):
    for folder in ("dev", "build", "docs/lab", "bench/results"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(REPOSITORY / "dev" / "bench", tmp_path / "dev")
    (tmp_path / "dev" / "build").write_text("#!/bin/sh\n")
    (tmp_path / "dev" / "build").chmod(0o755)
    for folder in ("bin", "lib"):
        (tmp_path / "build" / folder).symlink_to(BUILD / folder)
    for script in (REPOSITORY / "bench").glob("*.py"):
        shutil.copy(script, tmp_path / "bench")
    shutil.copy(REPOSITORY / "docs" / "lab" / "papers.md", tmp_path / "docs" / "lab")
    return tmp_path


def run(tree, *arguments):
    return subprocess.run([tree / "dev" / "bench", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, env={**os.environ, "LANECRYPT_DEVICES": "host"})


def test_bench_papers_writes_draws_and_fills_the_tables(tree):
    pytest.importorskip("matplotlib")
    done = run(tree, "papers", "M", "--quick", "--quiet")
    assert done.returncode == 0, done.stderr
    (results,) = (tree / "bench" / "results").iterdir()
    assert results.name.endswith("-papers-M.json")
    content = json.loads(results.read_text())
    assert any(r["name"] == "M.aes-128-ecb.kernel.host" for r in content["results"])
    assert os.listdir(tree / "docs" / "plots") == ["papers-m.svg"]
    assert content["machine"]["gpu"] in (tree / "docs" / "plots" / "papers-m.svg").read_text()
    # The emulator's figures fill no table, but the page names the file that contains them.
    assert f"(`{results.name}`)" in (tree / "docs" / "lab" / "papers.md").read_text()
    assert sorted(os.listdir(tree / "build")) == ["bin", "lib"]


def test_bench_of_aes_takes_a_file(tree):
    done = run(tree, "aes", "--out", tree / "figures.json", "--quick", "--quiet", "--only", "aes-128-ecb")
    assert done.returncode == 0, done.stderr
    assert json.loads((tree / "figures.json").read_text())["results"]
    assert not list((tree / "bench" / "results").iterdir()) and not (tree / "docs" / "plots").exists()
