# SPDX-License-Identifier: Apache-2.0
"""The reference of the C headers as Markdown, for dev/docs: a page for each header, from its comments."""

import re

# A comment or a piece of code of a header, without guard and extern "C".
TOKEN = re.compile(r"/\*(?P<comment>.*?)\*/|(?P<macro>^#[^\n]*(?:\\\n[^\n]*)*)|(?P<code>[^/#]+|.)", re.M | re.S)
SECTION = re.compile(r"-+ (.*?) -+$")
# Names that comments refer to. Others of C, such as lc_status in code, need no check.
REFERENCE = re.compile(r"(?<![\w`/])(lc_\w+)((?:\.\w+)?(?:\(\))?)")
CONSTANT = re.compile(r"\bLC_[A-Z0-9_]*[A-Z0-9]\b")


def text_of(comment):
    """The text of a comment, as Markdown."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment.strip().split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def introduction(comment):
    """The first comment of a header: its title, and sections for hazards, preconditions, example."""
    text = re.sub(r"\n*^SPDX-License-Identifier:.*\n*", "\n\n", text_of(comment), flags=re.M)
    title, rest = text.split("\n\n", 1) if "\n\n" in text else (text, "")
    name, _, what = title.partition(": ")
    rest = re.sub(r"^(Hazards|Preconditions)$", r"## \1\n", rest, flags=re.M)
    rest = re.sub(r"^Example: (.)", lambda found: f"## Example\n\n{found[1].upper()}", rest, flags=re.M)
    what = " ".join(what.split())
    return f"# {name}\n\n{what[:1].upper()}{what[1:]}\n\n{rest}\n"


def name_of(declaration):
    """What a declaration declares."""
    if found := re.match(r"#define (\w+)", declaration):
        return found[1]
    if declaration.startswith("typedef"):
        return re.search(r"(\w+);$", declaration)[1]
    return re.search(r"\b(lc_\w+)\(", declaration)[1]


def declarations(text):
    """Pairs of a comment (None if there is none) and a declaration; a section has no declaration."""
    comment, code, depth = None, "", 0
    for token in TOKEN.finditer(text):
        if token["comment"] is not None:
            if code.strip():
                # Inside a struct or an enum, or behind a declaration: it is shown as code.
                code += token[0]
            elif section := SECTION.match(token["comment"].strip()):
                yield section[1], None
                comment = None
            else:
                comment = text_of(token["comment"])
        elif token["macro"] is not None:
            if token["macro"].startswith("#define LC_") and "LC_API" not in token["macro"]:
                yield comment, token["macro"]
                comment = None
        else:
            for piece in re.split(r"(?<=[;{}])", token["code"].replace('extern "C" {', "")):
                depth += piece.count("{") - piece.count("}")
                if depth < 0:  # the end of extern "C"
                    depth, code = 0, ""
                    continue
                code += piece
                if depth == 0 and code.strip().endswith(";"):
                    yield comment, code.strip()
                    comment, code = None, ""


def link(text, pages, name, errors):
    """The text with links to what it names of the headers."""
    def refer(found):
        if found[1] not in pages:
            errors.append(f"{name}: no header declares {found[1]}")
            return found[0]
        return f"[{found[0]}]({pages[found[1]]}.html#{found[1]})"

    # Indented lines and what is in backticks stay as they are.
    return "\n".join(line if line.startswith("    ") else "".join(
        part if part.startswith("`") else REFERENCE.sub(refer, part)
        for part in re.split(r"(`[^`]*`)", line)) for line in text.split("\n"))


def reference(headers):
    """Markdown by the name of its page, and errors. `headers` has texts by names such as core.h."""
    errors, parsed, pages, constants = [], {}, {}, set()
    for header, text in headers.items():
        stem = header.removesuffix(".h")
        first, rest = re.match(r"/\*(.*?)\*/(.*)", text, re.S).groups()
        parsed[stem] = first, list(declarations(rest))
        for _, declaration in parsed[stem][1]:
            if declaration is not None:
                pages.setdefault(name_of(declaration), stem)
        constants |= set(CONSTANT.findall(re.sub(r"/\*.*?\*/", "", text, flags=re.S)))
    markdown = {}
    for stem, (first, pairs) in parsed.items():
        name = f"{stem}.h"
        out = [link(introduction(first), pages, name, errors)]
        for comment, declaration in pairs:
            if declaration is None:
                out.append(f"## {comment}\n")
                continue
            out.append(f"### {name_of(declaration)}\n\n```c\n{declaration}\n```\n")
            if comment is not None:
                out.append(link(comment, pages, name, errors) + "\n")
        markdown[stem] = "\n".join(out)
        for constant in CONSTANT.findall(" ".join(re.findall(r"/\*.*?\*/", headers[name], re.S))):
            if constant not in constants:
                errors.append(f"{name}: no header declares {constant}")
    return markdown, errors
