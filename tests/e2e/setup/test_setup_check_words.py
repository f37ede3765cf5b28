# SPDX-License-Identifier: Apache-2.0
"""dev/check_words.py finds forbidden words and wrong subjects of commits, and accepts what is right."""

import importlib.util

import pytest

from conftest import REPOSITORY


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("check_words", REPOSITORY / "dev" / "check_words.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def known(script):
    # Written so that this file has none of the words.
    return list(script.rules(REPOSITORY / "dev" / "words.txt"))


@pytest.mark.parametrize("name, line", [
    ("src/a.cpp", "LaunchRo" + "om space;"),
    ("docs/a.md", "The LaunchRo" + "om of a launch."),
    ("src/a.cpp", "int x;  // Who" + "ever calls this"),
    ("src/a.h", "// O" + "f a job: its length"),
    ("a.py", "# O" + "f a job: its length"),
    ("docs/a.md", "Who" + "ever frees it wipes it."),
])
def test_a_forbidden_word_is_found(script, known, name, line):
    assert len(list(script.faults_of(name, line, known))) == 1


@pytest.mark.parametrize("name, line", [
    ("src/a.cpp", "LaunchWorkspace workspace;"),
    ("src/a.cpp", "// The length of a job: in bytes."),
    ("src/a.cpp", 'say("who' + 'ever");'),  # a text, which no rule of prose reads
    ("src/plane.h", "u32 plane;  // a bit plane"),
])
def test_other_words_are_left_alone(script, known, name, line):
    assert not list(script.faults_of(name, line, known))


@pytest.mark.parametrize("subject, is_right", [
    ("launch: pick the kernel by address", True),
    ("cli/io: name the file in errors", True),
    ("cli, service: name the file in errors", False),
    ("Pick the kernel by address", False),
    ("launch: pick the kernel by address.", False),
    ("launch: " + "x" * 60, False),
])
def test_subjects(script, subject, is_right):
    assert (script.fault_of_subject(subject) == "") == is_right
