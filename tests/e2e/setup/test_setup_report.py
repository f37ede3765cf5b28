# SPDX-License-Identifier: Apache-2.0
"""dev/test_report.py: what counts as a test, as a failure, and as a skip."""

import json
import subprocess
import sys

import pytest

GTEST = """<testsuites><testsuite name="Aes">
<testcase name="Right" status="run" result="completed" classname="Aes"/>
<testcase name="Off" status="notrun" result="suppressed" classname="Aes"/>
{more}</testsuite></testsuites>"""
GTEST_SKIP = """<testcase name="OnCard" status="run" result="skipped" classname="Aes">
<skipped message="a.cpp:1&#x0A;needs a GPU: none here"/></testcase>"""
GTEST_FAILURE = """<testcase name="Wrong" status="run" result="completed" classname="Aes">
<failure message="no"/></testcase>"""
CTEST = """<testsuite><testcase name="aes" classname="aes" status="{status}">
<system-out>{output}</system-out></testcase>{more}</testsuite>"""
# The output of a program of six tests that crashed in its fourth.
DEATH = """Note: This is test shard 1 of 4.
[==========] Running 6 tests from 2 test suites.
[----------] Global test environment set-up.
[ RUN      ] Aes.Right/host_0
[       OK ] Aes.Right/host_0 (0 ms)
[ RUN      ] Aes.OnCard/gpu
a.cpp:1: Skipped
needs a GPU: none here
[  SKIPPED ] Aes.OnCard/gpu (0 ms)
[ RUN      ] Aes.Wrong
a.cpp:2: Failure
[  FAILED  ] Aes.Wrong, where GetParam() = 3 (1 ms)
[----------] 3 tests from Aes (1 ms total)
[ RUN      ] Rsa.Dies/1
{}"""
PYTEST = """<testsuites><testsuite><testcase classname="t" name="right"/>
<testcase classname="t" name="skipped"><skipped message="{why}"/></testcase></testsuite></testsuites>"""


@pytest.fixture
def results(tmp_path):
    def write(gtest="", ctest="run", more="", pytest_why=None, steps="", output=""):
        listing = {"tests": [{"name": "aes", "command": ["/x/aes_test",
                                                         "--gtest_output=xml:/build/gtest/aes.xml"]},
                             {"name": "other", "command": ["/x/other"]}]}
        (tmp_path / "unit.ctest.json").write_text(json.dumps(listing))
        (tmp_path / "unit.ctest.xml").write_text(CTEST.format(status=ctest, more=more, output=output))
        (tmp_path / "unit.gtest").mkdir(exist_ok=True)
        if gtest is not None:
            (tmp_path / "unit.gtest" / "aes.xml").write_text(GTEST.format(more=gtest))
        if pytest_why is not None:
            (tmp_path / "e2e.pytest.xml").write_text(PYTEST.format(why=pytest_why))
        if steps:
            (tmp_path / "steps.txt").write_text(steps)
        return tmp_path
    return write


def report(repository, folder, *options):
    done = subprocess.run([sys.executable, "-B", repository / "dev" / "test_report.py", folder,
                           *options], capture_output=True, text=True, timeout=60, check=False)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout.splitlines()[-1], done.stdout


def test_all_is_well(repository, results):
    code, last, _ = report(repository, results(steps="passed build\n", pytest_why="no tty"))
    assert (code, last) == (0, "3 passed, 0 failed, 1 skipped")


def test_a_failed_test_is_named(repository, results):
    code, last, said = report(repository, results(gtest=GTEST_FAILURE, ctest="fail"))
    assert (code, last) == (1, "1 passed, 1 failed, 0 skipped")
    assert "aes_test: Aes.Wrong" in said


def test_a_program_that_fails_at_its_end(repository, results):
    code, last, said = report(repository, results(ctest="fail"))
    assert (code, last) == (1, "1 passed, 1 failed, 0 skipped")
    assert "aes_test: its end" in said


def test_a_program_that_died_before_it_told(repository, results):
    code, last, _ = report(repository, results(gtest=None, ctest="fail", pytest_why="x"))
    assert (code, last) == (1, "1 passed, 1 failed, 1 skipped")


def test_a_program_that_died_in_a_test(repository, results):
    """The tests that it had finished count. That one and the two that it had not begun failed."""
    folder = results(gtest=None, ctest="fail", output=DEATH.format("terminate called"))
    code, last, said = report(repository, folder, "--list-skipped")
    assert (code, last) == (1, "1 passed, 4 failed, 1 skipped")
    assert "aes_test: Aes.Wrong\n" in said
    assert "aes_test: Rsa.Dies/1, in which it died or ran out of time\n" in said
    assert "aes_test: a test that it had not begun (2 times)\n" in said
    assert "aes_test: Aes.OnCard/gpu: needs a GPU: none here\n" in said


def test_a_program_that_died_between_tests(repository, results):
    output = DEATH.format("more of it [       OK ] Rsa.Dies/1 (2 ms)")
    code, last, said = report(repository, results(gtest=None, ctest="fail", output=output))
    assert (code, last) == (1, "2 passed, 3 failed, 1 skipped")
    assert "Rsa.Dies" not in said


def test_a_program_that_died_after_its_last_test(repository, results):
    output = DEATH.replace("6 tests", "1 test").partition("[ RUN      ] Aes.OnCard")[0]
    code, last, said = report(repository, results(gtest=None, ctest="fail", output=output))
    assert (code, last) == (1, "1 passed, 1 failed, 0 skipped")
    assert "aes_test: aes wrote no report" in said


@pytest.mark.parametrize("status", ["run", "notrun"])
def test_a_program_without_a_report_has_not_passed(repository, results, status):
    """For example if a test calls exit(0), or if the program was not built."""
    folder = results(gtest=None, ctest=status, pytest_why="x")
    code, last, said = report(repository, folder)
    assert (code, last) == (1, "1 passed, 1 failed, 1 skipped")
    assert "aes_test: aes wrote no report" in said


def test_other_programs_count_once(repository, results):
    more = '<testcase name="other" classname="other" status="run"/>'
    assert report(repository, results(more=more))[:2] == (0, "2 passed, 0 failed, 0 skipped")


def test_a_failed_step(repository, results):
    code, last, said = report(repository, results(steps="failed build with sanitizers\n"))
    assert (code, last) == (1, "1 passed, 1 failed, 0 skipped")
    assert "build with sanitizers" in said


@pytest.mark.parametrize("where", ["gtest", "pytest"])
def test_skips_for_want_of_a_gpu(repository, results, where):
    if where == "gtest":
        folder, passed, name = results(gtest=GTEST_SKIP), 1, "aes_test: Aes.OnCard"
    else:
        folder, passed, name = results(pytest_why="needs a GPU: none"), 2, "t.skipped"
    code, last, said = report(repository, folder)
    assert (code, last) == (0, f"{passed} passed, 0 failed, 1 skipped")
    assert "Skipped for want of a GPU: 1" in said and name not in said
    assert f"{name}: needs a GPU: none" in report(repository, folder, "--list-skipped")[2]
    code, last, said = report(repository, folder, "--require-gpu")
    assert (code, last) == (1, f"{passed} passed, 1 failed, 0 skipped")


def test_nothing_ran(repository, tmp_path):
    code, last, said = report(repository, tmp_path)
    assert (code, last) == (1, "0 passed, 0 failed, 0 skipped")
    assert "No test passed" in said
    (tmp_path / "unit.ctest.xml").write_text("<testsuite/>")
    assert report(repository, tmp_path)[:2] == (1, "0 passed, 1 failed, 0 skipped")


def test_tests_of_one_program_in_several_processes(repository, tmp_path):
    """Three processes, of which one passed, one failed and one crashed."""
    names = ["Aes.Right", "Aes.Wrong/host", "Aes.Dies"]
    place = "--gtest_output=xml:/build/gtest/"
    (tmp_path / "unit.ctest.json").write_text(json.dumps({"tests": [
        {"name": name, "command": ["/x/aes_test", f"{place}{name}.xml"]} for name in names]}))
    entries = "".join(f'<testcase name="{name}" classname="{name}" status="{status}"/>'
                      for name, status in zip(names, ("run", "fail", "fail")))
    (tmp_path / "unit.ctest.xml").write_text(f"<testsuite>{entries}</testsuite>")
    each = tmp_path / "unit.gtest"
    (each / "Aes.Wrong").mkdir(parents=True)
    (each / "Aes.Right.xml").write_text(GTEST.format(more=""))
    (each / "Aes.Wrong" / "host.xml").write_text(
        f"<testsuites><testsuite>{GTEST_FAILURE}</testsuite></testsuites>")
    code, last, said = report(repository, tmp_path)
    assert (code, last) == (1, "1 passed, 2 failed, 0 skipped")
    assert "aes_test: Aes.Wrong" in said
    assert "aes_test: Aes.Dies wrote no report" in said


def test_groups_of_pytest_are_no_part_of_a_name(repository, results):
    folder = results(pytest_why="needs a GPU: none")
    path = folder / "e2e.pytest.xml"
    path.write_text(path.read_text().replace('name="skipped"', 'name="skipped[a@b]@ports"'))
    assert "e2e: t.skipped[a@b]: needs" in report(repository, folder, "--list-skipped")[2]
