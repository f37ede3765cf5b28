# SPDX-License-Identifier: Apache-2.0
"""The tests that docs/threat-model.md names exist."""

import re

import pytest

FOLDERS = {"e2e": "tests/e2e", "unit": "tests/unit", "provider": "tests/provider",
           "device": "tests/device", "service": "tests/service", "cli": "tests/cli",
           "python": "tests/python"}
LINE = re.compile(r"^\| .* \| (.*`.*) \|$", re.M)


def missing_of(text, repository):
    """Returns files and tests that a page names and that do not exist."""
    missing = []
    for cell in LINE.findall(text):
        source = ""
        for name in re.findall(r"`([^`]+)`", cell):
            if "/" in name:
                first, rest = name.split("/", 1)
                file = repository / FOLDERS.get(first, first) / rest
                source = file.read_text(encoding="utf-8") if file.is_file() else ""
                missing += [] if source else [name]
            elif re.fullmatch(r"test_\w+", name):
                missing += [] if f"\ndef {name}(" in source else [name]
            elif found := re.fullmatch(r"(\w+)\.(\*|\w+)", name):
                test = r"\w+" if found[2] == "*" else found[2]
                pattern = rf"\bTEST(?:_[FP])?\({found[1]}, {test}\)"
                missing += [] if re.search(pattern, source) else [name]
    return missing


def test_the_tests_are_there(repository):
    text = (repository / "docs" / "threat-model.md").read_text(encoding="utf-8")
    tables = text.split("| What holds | Test |\n")[1:]
    assert len(tables) >= 8
    for table in tables:
        assert LINE.search(table.split("\n\n")[0]), table[:80]
        assert missing_of(table.split("\n\n")[0], repository) == []


@pytest.mark.parametrize("cell, name", [
    ("`e2e/test_nothing.py`", "e2e/test_nothing.py"),
    ("`e2e/test_threat_model.py`: `test_nothing`", "test_nothing"),
    ("`unit/inside/process_test.cpp`: `Forks.AreCountedTwice`", "Forks.AreCountedTwice"),
    ("`unit/inside/process_test.cpp`: `Nothing.*`", "Nothing.*"),
])
def test_one_that_is_not_there_is_missed(repository, cell, name):
    assert missing_of(f"| A line | {cell} |\n", repository) == [name]
