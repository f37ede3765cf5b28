# SPDX-License-Identifier: Apache-2.0
"""dev/check_includes.py finds standard headers that a file lacks, and accepts what is right."""

import importlib.util
import pathlib
import re

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
OURS = "#pragma once\n#include <string>\n#include \"job/deeper.h\"\n"
DEEPER = "#pragma once\n#include <map>\n#include <chrono>\n"


@pytest.fixture(scope="module")
def script():
    path = REPOSITORY / "dev" / "check_includes.py"
    spec = importlib.util.spec_from_file_location("check_includes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def check(script):
    def breaches(text, path="src/job/a.cpp"):
        sources = script.Sources({"src/job/ours.h": OURS, "src/job/deeper.h": DEEPER, path: text})
        return list(sources.breaches(path))
    return breaches


@pytest.mark.parametrize("text, line, what", [
    ("\nstd::vector<int> all;\n", 2, "std::vector needs <vector>"),
    # Another standard header has it by chance.
    ("#include <functional>\nstd::vector<int> all;\n", 2, "std::vector needs <vector>"),
    ("#include \"job/ours.h\"\nstd::mutex one;\n", 2, "std::mutex needs <mutex>"),
    ("// <cstdint>\nuint32_t word;\n", 2, "integers of a size need <cstdint>"),
    ("/* std::vector\n */ std::memcpy(a, b, 1);\n", 2, "std::memcpy needs <cstring>"),
    ("std::what_is_new();\n", 1, "dev/check_includes.py does not know which header has std::what_is_new"),
])
def test_breaches_are_found(check, text, line, what):
    assert check(text) == [(line, what)]


@pytest.mark.parametrize("text", [
    "#include <vector>\nstd::vector<int> all, more;\n",
    "#include \"job/ours.h\"\nstd::string a; std::map<int, int> b; std::chrono::seconds c;\n",
    "#include <string.h>\nvoid f() { std::memcpy(a, b, 1); }\n",
    "#include <cstdint>\nuint64_t word;\n",
    "// std::vector is better\nint word;\n",
])
def test_what_is_right_passes(check, text):
    assert not check(text)


def test_a_list_of_macros_needs_nothing(check):
    assert not check("ROW(std::vector)\n", "src/job/list.h")
    assert check("#pragma once\nstd::vector<int> all;\n", "src/job/no_list.h")


def test_all_precompiled_headers_are_known(script):
    text = (REPOSITORY / "cmake" / "precompile.cmake").read_text()
    listed, = re.findall(r"set\(lanecrypt_standard_headers([^)]*)\)", text)
    headers = set(re.findall(r"<(\w+)>", listed))
    assert headers and headers - {"cstdint"} <= set(script.HEADERS)
