# SPDX-License-Identifier: Apache-2.0
"""The links of the Markdown pages, and the size of the glossary."""

import re

import pytest

from conftest import REPOSITORY

PAGES = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md"), REPOSITORY / "python" / "README.md"])
MOST_WORDS = 25


def anchors(page):
    """The anchors of a page's headings, as forges make them."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith(("https:", "http:")):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_glossary_stays_short():
    rows = re.findall(r"^\| (?!---|Word )(.+?) \|", (REPOSITORY / "docs/design/glossary.md").read_text(), re.M)
    assert len(rows) == len(set(rows)) <= MOST_WORDS
