# SPDX-License-Identifier: Apache-2.0
"""The public headers: each compiles alone, and the example in its first comment runs."""

import os
import re
import subprocess

import pytest

from conftest import REPOSITORY

INCLUDE = REPOSITORY / "include"
HEADERS = sorted(path.name for path in (INCLUDE / "lanecrypt").glob("*.h"))
WITH_EXAMPLE = sorted(set(HEADERS) - {"lanecrypt.h", "lanecrypt_0_1.h"})
# The example of graph.h is a function, because a whole program needs CUDA's own header.
MAIN = {
    "graph.h": """
#include <string.h>

static char text[16 << 20], tags[16][16], verdict;

int main(void) {
  const uint8_t key[32] = {0};
  lc_context *context = 0;
  lc_graph_job *job = 0;
  if (lc_open(0, &context) != LC_OK) return 1;
  // No stream is being captured.
  const lc_status status = capture(context, 0, text, tags, &verdict, key, &job);
  const int is_told = strstr(lc_last_error(), "stream") != 0;
  lc_close(context);
  return status == LC_ERROR_ARGUMENT && is_told && job == 0 ? 0 : 1;
}
""",
}


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          timeout=300, stdin=subprocess.DEVNULL, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def first_comment(header):
    text = (INCLUDE / "lanecrypt" / header).read_text()
    return re.sub(r"^ \* ?", "", re.match(r"/\*\n(.*?)^ \*/$", text, re.M | re.S)[1], flags=re.M)


def example_of(header):
    indented = re.search(r"^Example\b.*?\n\n((?:    .*\n|\n)+)\Z", first_comment(header), re.M | re.S)
    return re.sub(r"^    ", "", indented[1], flags=re.M)


@pytest.mark.parametrize("compiler", [("cc", "-x", "c", "-std=c99"), ("cc", "-x", "c", "-std=c11"),
                                      ("c++", "-x", "c++", "-std=c++20")], ids=lambda words: words[-1])
@pytest.mark.parametrize("header", HEADERS)
def test_a_header_compiles_alone(header, compiler, tmp_path):
    source = tmp_path / "source"
    source.write_text(f"#include <lanecrypt/{header}>\n")
    run(*compiler, "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", INCLUDE,
        source)


@pytest.mark.parametrize("header", WITH_EXAMPLE)
def test_a_header_begins_with_its_hazards(header):
    parts = re.findall(r"^(Hazards|Preconditions|Example)\b", first_comment(header), re.M)
    assert parts == ["Hazards", "Preconditions", "Example"]


@pytest.mark.parametrize("devices", ["none", "host"])
@pytest.mark.parametrize("header", WITH_EXAMPLE)
def test_the_example_of_a_header_runs(header, devices, build, tmp_path):
    (tmp_path / "example.c").write_text(example_of(header) + MAIN.get(header, ""))
    library = build / "lib"
    run("cc", "-std=c11", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-I", INCLUDE, "example.c",
        "-o", "example", library / "liblanecrypt.so", f"-Wl,-rpath,{library}", cwd=tmp_path)
    run(tmp_path / "example", env={**os.environ, "LANECRYPT_DEVICES": devices,
                                   "XDG_CACHE_HOME": str(tmp_path)})
