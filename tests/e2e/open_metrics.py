# SPDX-License-Identifier: Apache-2.0
"""A small parser of OpenMetrics text. It accepts only what the standard allows, and only what
Prometheus' older format accepts too."""

import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = rf'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{((?:{LABEL})(?:,{LABEL})*)\}})? (\S+)")
SUFFIXES = {"gauge": [""], "counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}
# Names with these suffixes would be taken for parts of other families.
RESERVED = ("_total", "_created", "_bucket", "_sum", "_count")


class Family:
    def __init__(self, name):
        self.name, self.type, self.unit, self.help = name, None, None, None
        self.samples = {}  # by the name's suffix and the labels

    def value(self, suffix="", **labels):
        return self.samples[suffix, tuple(sorted(labels.items()))]


def unescape(text):
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text)


def describe(families, now, line):
    """Reads a line of "# TYPE", "# UNIT" or "# HELP"."""
    word, name, rest = re.fullmatch(rf"# (TYPE|UNIT|HELP) ({NAME}) (.+)", line).groups()
    if word == "TYPE":
        assert name not in families, f"{name} comes twice"
        assert not name.endswith(RESERVED), name
        now = families[name] = Family(name)
    assert now is not None and now.name == name and not now.samples, line
    field = word.lower()
    assert getattr(now, field) is None, line
    setattr(now, field, rest)
    if word == "TYPE":
        assert rest in SUFFIXES, line
    if word == "UNIT":
        assert name.endswith("_" + rest), line
    return now


def sample(now, line):
    found = SAMPLE.fullmatch(line)
    assert found, line
    name, labels = found[1], re.findall(LABEL, found[2] or "")
    assert now is not None and name.startswith(now.name), line
    suffix = name[len(now.name):]
    assert suffix in SUFFIXES[now.type], line
    assert len({label for label, _ in labels}) == len(labels), line
    number = found[found.lastindex]
    value = float(number)
    assert not math.isnan(value) and (now.type == "gauge" or value >= 0), line
    key = suffix, tuple(sorted((label, unescape(text)) for label, text in labels))
    assert key not in now.samples, f"{line} comes twice"
    now.samples[key] = value


def check_histogram(family):
    groups = {}
    for (suffix, labels), value in family.samples.items():
        others = tuple(pair for pair in labels if pair[0] != "le")
        group = groups.setdefault(others, {"bounds": []})
        if suffix == "_bucket":
            bound = dict(labels)["le"]
            # The canonical form, so that the same bound is the same text everywhere.
            assert bound == "+Inf" or re.search(r"[.e]", bound), bound
            group["bounds"].append((float(bound), value))
        else:
            assert others == labels
            group[suffix] = value
    for group in groups.values():
        bounds = group["bounds"]
        assert bounds == sorted(bounds) and len(bounds) == len({b for b, _ in bounds}), bounds
        assert [count for _, count in bounds] == sorted(count for _, count in bounds)
        assert bounds[-1] == (math.inf, group["_count"])
        assert "_sum" in group


def parse(text):
    """Returns the families of a text, by name."""
    assert text.endswith("# EOF\n") and "\r" not in text
    families, now = {}, None
    for line in text[:-len("# EOF\n")].splitlines():
        if line.startswith("#"):
            now = describe(families, now, line)
        else:
            sample(now, line)
    for family in families.values():
        assert family.type and family.help, family.name
        if family.type == "histogram":
            check_histogram(family)
    return families
