# SPDX-License-Identifier: Apache-2.0
"""dev/check_includes.py finds headers that a file lacks, and accepts what is right."""

import importlib.util
import pathlib
import re

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
OURS = "#pragma once\n#include <string>\n#include \"job/deeper.h\"\n"
DEEPER = "#pragma once\n#include <map>\n#include <chrono>\nnamespace lc {\nclass Slot {\n};\n}\n"
OTHER = """#pragma once
#define TWICE(x) x x
namespace lc {
template <typename T> struct Queue {
  void push(T one);
};
[[nodiscard]] Slot *first_slot(int count);
constexpr int kMost = 3;
enum class Mode { kA, kB };
}
"""


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
        sources = script.Sources({"src/job/ours.h": OURS, "src/job/deeper.h": DEEPER,
                                  "src/job/other.h": OTHER, path: text})
        return list(sources.breaches(path))
    return breaches


@pytest.mark.parametrize("text, line, what", [
    ("\nstd::vector<int> all;\n", 2, "std::vector needs <vector>"),
    # Another standard header happens to include it.
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


@pytest.mark.parametrize("text, name", [
    ("Queue<int> all;\n", "Queue"),
    ("void f(lc::Mode mode);\n", "Mode"),
    ("auto slot = first_slot(3);\n", "first_slot"),
    ("TWICE(f();)\n", "TWICE"),
    ("int all[kMost];\n", "kMost"),
])
def test_headers_of_ours_are_found(check, text, name):
    assert check("\n" + text) == [(2, f"{name} needs src/job/other.h")]
    assert not check("#include \"job/other.h\"\n" + text)


@pytest.mark.parametrize("text", [
    "#include \"job/ours.h\"\nlc::Slot slot;\n",
    # Names that the file defines, or that mean something else.
    "class Queue;\nQueue *all;\n",
    "template <typename... Mode> void f(Mode... all);\n",
    "static int first_slot(int count) { return 1; }\nint one = first_slot(2);\n",
    "auto f = [first_slot = 1] { return first_slot (2); };\n",
    "other.first_slot(2); other->first_slot(3); int x = first_slot;\n",
    "say(\"Queue TWICE(1)\");  // Mode\n",
])
def test_headers_of_ours_are_not_needed(check, text):
    assert not check(text)


def test_a_file_includes_the_header_of_its_name(check):
    assert check("int f() { return 1; }\n", "src/job/other.cpp") == [(1, "needs src/job/other.h")]
    assert not check("#include \"job/other.h\"\n", "src/job/other.cpp")


def test_a_list_of_macros_needs_nothing(check):
    assert not check("ROW(std::vector)\n", "src/job/list.inc")
    assert check("#pragma once\nstd::vector<int> all;\n", "src/job/no_list.h")


def test_all_precompiled_headers_are_known(script):
    text = (REPOSITORY / "cmake" / "precompile.cmake").read_text()
    listed, = re.findall(r"set\(lanecrypt_standard_headers([^)]*)\)", text)
    headers = set(re.findall(r"<(\w+)>", listed))
    assert headers and headers - {"cstdint"} <= set(script.HEADERS)
