# SPDX-License-Identifier: Apache-2.0
"""dev/docs: what it makes of a header and of a package, and what it refuses."""

import importlib.machinery
import importlib.util
import subprocess
import sys

import pytest

from conftest import REPOSITORY

HEADER = """/*
 * lanecrypt/a.h: one thing.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hazards
 * - Call lc_open() first.
 *
 * Example: open.
 *
 *     lc_open();
 */
#ifndef LANECRYPT_A_H
#define LANECRYPT_A_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Opening ----------------------------------------------------------- */

/* Any device. */
#define LC_ANY 1

/* A mode. */
typedef enum lc_mode {
  LC_ONE = 0, /* the first; see lc_open */
  LC_TWO = 1
} lc_mode;

/* Opens with `mode`, LC_ONE or
 * LC_TWO. */
LC_API int lc_open(lc_mode mode,
                   int (*callback)(void *argument));

#ifdef __cplusplus
}
#endif

#endif
"""


def load(name):
    sys.path.insert(0, str(REPOSITORY / "dev"))
    try:
        loader = importlib.machinery.SourceFileLoader(name.replace(".", "_"), str(REPOSITORY / "dev" / name))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(module)
        return module
    finally:
        sys.path.pop(0)


def test_a_header_becomes_a_page():
    pages, errors = load("docs_c.py").reference({"a.h": HEADER})
    assert errors == []
    assert pages["a"] == """# lanecrypt/a.h

One thing.

## Hazards

- Call [lc_open()](a.html#lc_open) first.

## Example

Open.

    lc_open();

## Opening

### LC_ANY

```c
#define LC_ANY 1
```

Any device.

### lc_mode

```c
typedef enum lc_mode {
  LC_ONE = 0, /* the first; see lc_open */
  LC_TWO = 1
} lc_mode;
```

A mode.

### lc_open

```c
LC_API int lc_open(lc_mode mode,
                   int (*callback)(void *argument));
```

Opens with `mode`, LC_ONE or
LC_TWO.
"""


@pytest.mark.parametrize("old, new", [("lc_open() first", "lc_begin() first"), ("LC_ONE or", "LC_NONE or")])
def test_a_name_that_no_header_declares_is_an_error(old, new):
    _, errors = load("docs_c.py").reference({"a.h": HEADER.replace(old, new)})
    assert errors == [f"a.h: no header declares {new.split('(')[0].split()[0]}"]


def test_the_reference_of_a_package(tmp_path):
    for folder in ("package/ray", "src"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "package/__init__.py").write_text('"""All."""\n__all__ = ["A", "B", "f", "rsa"]\n')
    (tmp_path / "package/_a.py").write_text(
        'class A:\n    """An <a>."""\n\n    def __init__(self, one: int) -> None: ...\n\n'
        '    def g(self, *, two: str = "x") -> None:\n        """Does g."""\n\ndef f(): ...\n')
    (tmp_path / "package/rsa.py").write_text('"""RSA."""\n')
    (tmp_path / "package/ray/__init__.py").write_text('"""Ray."""\n')
    (tmp_path / "src/b.cpp").write_text('nb::class_<B>(\n  module, "B",\n  "A \\"b\\" of "\n  "C++.")\n')
    page, errors = load("docs_python.py").reference(tmp_path / "package", tmp_path / "src")
    assert errors == ["lanecrypt.f has no docstring"]
    for part in ("A(one)", "An &lt;a&gt;.", ".g(*, two='x')", "Does g.", "A &quot;b&quot; of C++.",
                 "## lanecrypt.rsa"):
        assert part in page


@pytest.fixture
def docs(monkeypatch):
    folder = subprocess.run([REPOSITORY / "dev" / "setup", "--folder", "docs"], check=True, text=True,
                            capture_output=True).stdout.strip()
    monkeypatch.syspath_prepend(folder)
    pytest.importorskip("markdown_it", reason="dev/setup docs fetches it")
    return load("docs")


def test_links_lead_to_pages_headings_and_files(docs, tmp_path):
    site = docs.Site({"README": "# Home\n[a](docs/a.md#two-words) ![b](docs/plots/aes-sizes.svg)\n",
                      "docs/a": "# A\n\n## Two words\n[home](../README.md) [here](#a) [web](https://a.b/c)\n"})
    assert site.errors == []
    site.write(tmp_path / "site")
    home = (tmp_path / "site" / "index.html").read_text()
    assert 'href="docs/a.html#two-words"' in home and 'href="style.css"' in home
    assert 'href="../index.html"' in (tmp_path / "site" / "docs" / "a.html").read_text()
    assert (tmp_path / "site" / "docs" / "plots" / "aes-sizes.svg").stat().st_size > 0


@pytest.mark.parametrize("link", ["b.md", "a.md#c", "#c", "../../outside", "../no/file.svg"])
def test_a_link_that_leads_nowhere_is_an_error(docs, link):
    assert len(docs.Site({"docs/a": f"# A\n[b]({link})\n"}).errors) == 1
