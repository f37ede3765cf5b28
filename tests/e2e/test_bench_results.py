# SPDX-License-Identifier: Apache-2.0
"""The results in bench/results. Each file says where, when and from which source its figures
were measured, and how far apart the runs were. The documents name each file, and only existing
files. There are few: a new file replaces the older one of its topic and kind of machine."""

import copy
import datetime
import json
import math
import re

import pytest

from conftest import REPOSITORY

RESULTS = REPOSITORY / "bench" / "results"
FILES = sorted(RESULTS.iterdir())
PAGES = sorted([REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")])

MOST_FILES = 60
# Fields that an older file lacks, because they were not required when it was written. New files
# have all fields and are not added here.
OLDER = {"2026-11-22-h200-rsa-proofs.json": {"results.min", "results.max"}}


def is_date(text):
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except (TypeError, ValueError):
        return False


def is_text(value):
    return isinstance(value, str) and value.strip() != ""


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def lacks_of_result(result):
    """Returns the names of the fields that one figure lacks."""
    if not isinstance(result, dict):
        return {"name"}
    checks = {"name": lambda name: is_text(name) and re.fullmatch(r"[^\s.]+(\.[^\s.]+)+", name),
              "value": is_number, "unit": is_text, "runs": is_count, "min": is_number, "max": is_number}
    lacks = {field for field, is_right in checks.items() if not is_right(result.get(field))}
    # In timing tests the value is a difference of two sides, or the worst of many.
    if not lacks & {"value", "min", "max"} and ".timing-" not in str(result.get("name")) \
            and not result["min"] <= result["value"] <= result["max"]:
        lacks.add("value")
    return lacks


def lacks_of(name, told):
    """Returns what a file with this name and this content lacks."""
    if not isinstance(told, dict):
        return {"machine", "date", "software", "results"}
    lacks = set()
    file_name = re.fullmatch(r"(\d{4}-\d\d-\d\d)-[a-z0-9]\S*\.json", name)
    if not file_name or not is_date(file_name[1]):
        lacks.add("file name")
    if not is_date(told.get("date")) or (file_name and file_name[1] != told["date"]):
        lacks.add("date")
    machine, software, results = (told.get(part) for part in ("machine", "software", "results"))
    if isinstance(machine, dict):
        # Figures of the CPU alone have no GPU and no driver.
        if not is_text(machine.get("gpu")) and machine.get("gpu") != "":
            lacks.add("machine.gpu")
        if not is_text(machine.get("driver")) and (machine.get("driver") != "" or machine.get("gpu") != ""):
            lacks.add("machine.driver")
        if not is_text(machine.get("cpu")):
            lacks.add("machine.cpu")
        if not is_count(machine.get("cores")):
            lacks.add("machine.cores")
    else:
        lacks.add("machine")
    if isinstance(software, dict):
        # The commit must be one that can be looked up: not "unknown", and not one with local
        # changes.
        if not re.fullmatch(r"[0-9a-f]{7,40}", str(software.get("commit"))):
            lacks.add("software.commit")
        lacks |= {f"software.{part}" for part in ("compiler", "openssl") if not is_text(software.get(part))}
    else:
        lacks.add("software")
    if isinstance(results, list) and results:
        lacks |= {f"results.{field}" for result in results for field in lacks_of_result(result)}
    else:
        lacks.add("results")
    return lacks


def no_constant(text):
    raise ValueError(f"{text} is no JSON")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_has_the_form(path):
    told = json.loads(path.read_text(encoding="utf-8"), parse_constant=no_constant)
    assert lacks_of(path.name, told) == OLDER.get(path.name, set())


def test_the_older_ones_are_there():
    assert set(OLDER) - {path.name for path in FILES} == set()


def test_a_new_file_replaces_an_older_one():
    assert len(FILES) <= MOST_FILES
    others = [path.name for path in (REPOSITORY / "docs").rglob("*.json")]
    assert others == []


def named_in(text):
    """Returns the result files that a page names, each with the folder that it names."""
    return re.findall(r"((?:[\w.-]+/)*)(\d{4}-\d\d-\d\d-[\w.-]+\.json)", text)


def test_a_page_names_each_file():
    named = {name for page in PAGES for _, name in named_in(page.read_text(encoding="utf-8"))}
    assert [path.name for path in FILES if path.name not in named] == []


def missing_of(text):
    """Returns the result files that a page names and that do not exist. A file that is named
    without a folder is in bench/results."""
    return [folder + name for folder, name in named_in(text)
            if folder not in ("", "bench/results/") or not (RESULTS / name).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_the_docs_name_is_there(page):
    assert missing_of(page.read_text(encoding="utf-8")) == []


def test_what_is_not_there_is_found():
    result = FILES[0].name
    assert missing_of(f"(`{result}`, `bench/results/{result}`)") == []
    for text in ("`2026-11-22-h200-none.json`", f"`lab/{result}`", f"`bench/{result}`"):
        assert len(missing_of(text)) == 1, text


GOOD = {
    "machine": {"gpu": "NVIDIA H200", "driver": "570.1", "cpu": "a CPU", "cores": 16},
    "date": "2026-11-22",
    "software": {"commit": "0123456789ab", "compiler": "g++ 12.2.0", "openssl": "OpenSSL 3.0.19"},
    "results": [{"name": "aes-128-ctr.card.cuda", "value": 2.5, "unit": "GB/s", "runs": 3, "min": 2, "max": 2.5},
                {"name": "aes-128-ctr.timing-keys-t.cuda", "value": -3, "unit": "t", "runs": 9, "min": 1, "max": 2,
                 "clock": "device"}],
}
NAME = "2026-11-22-h200-card.json"
GONE = object()


def changed(place, value):
    """Returns GOOD with `value` at `place`, or without it if `value` is GONE."""
    told = copy.deepcopy(GOOD)
    *way, last = place
    part = told
    for step in way:
        part = part[step]
    if value is GONE:
        del part[last]
    else:
        part[last] = value
    return told


def test_a_whole_file_lacks_nothing():
    assert lacks_of(NAME, GOOD) == set()
    assert lacks_of(NAME, {**GOOD, "note": "of a kind"}) == set()
    assert lacks_of(NAME, {**GOOD, "machine": {**GOOD["machine"], "gpu": "", "driver": ""}}) == set()


@pytest.mark.parametrize("place, values", [
    (("machine",), [GONE, "H200"]),
    (("machine", "gpu"), [GONE, None]),
    (("machine", "driver"), [GONE, "", 570]),
    (("machine", "cpu"), [GONE, ""]),
    (("machine", "cores"), [GONE, 0, "16", True]),
    (("date",), [GONE, "", "2026-11-21", "22.11.2026", "2026-13-01", 20261122]),
    (("software",), [GONE, []]),
    (("software", "commit"), [GONE, "", "unknown", "0123456789ab-dirty", 123456]),
    (("software", "compiler"), [GONE, " "]),
    (("software", "openssl"), [GONE, None]),
    (("results",), [GONE, [], {}]),
    (("results", 0, "name"), [GONE, "", "aes", "aes 128.cuda", "aes..cuda"]),
    (("results", 0, "value"), [GONE, "2.5", None, float("nan"), float("inf"), True, 1.9, 2.6]),
    (("results", 0, "unit"), [GONE, ""]),
    (("results", 0, "runs"), [GONE, 0, 2.5, "3"]),
    (("results", 0, "min"), [GONE, None]),
    (("results", 1, "max"), [GONE, "2"]),
], ids=lambda part: ".".join(map(str, part)) if isinstance(part, tuple) else "")
def test_what_lacks_is_named(place, values):
    for value in values:
        named = ".".join(part for part in place if isinstance(part, str))
        assert lacks_of(NAME, changed(place, value)) == {named}, value


@pytest.mark.parametrize("name", ["h200-card.json", "2026-11-22.json", "2026-11-22-h200.txt", "2026-11-31-h200.json"])
def test_names_of_files(name):
    assert "file name" in lacks_of(name, GOOD)
