#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the words of code, comments and documents, and the subjects of commits.

dev/words.txt lists what may not occur: a regular expression and the better word, for whole files or for comments alone.
Usage: dev/check_words.py [--count]     --count: prints only the number of faults
"""
import os
import re
import subprocess
import sys

# Data, what generators wrote, and texts of others. CHANGELOG.md names what was renamed.
LEFT_OUT = ("bench/results/", "tests/vectors/", "docs/plots/", "dev/words.txt", "CHANGELOG.md", "LICENSE",
            ".git-blame-ignore-revs")
# Commits after this one are checked. Those before it have subjects of many forms.
FIRST_COMMIT = "a596dfd74fd6"
SUBJECT = re.compile(r"\.?[a-z][\w./+-]*: \S.*[^.]")
MOST_CHARACTERS = 65
COMMENT = {".py": "#", ".txt": "#", ".cmake": "#", ".sh": "#", ".h": "//", ".cpp": "//", ".hpp": "//", ".c": "/*", ".cu": "//"}


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def rules(path="dev/words.txt"):
    """Yields the rules of a list as (section, pattern, better word)."""
    section = None
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[]")
            continue
        pattern, _, better = line.partition("\t")
        if section is None or not better.strip():
            sys.exit(f"dev/words.txt:{number}: needs a section, and a tab before the better word")
        yield section, re.compile(pattern), better.strip()


def comment_of(line, suffix, is_prose):
    """Returns the prose of a line: all of a document's, and what follows the comment mark in code."""
    if is_prose:
        return line
    mark = COMMENT.get(suffix, "//")
    at = line.find(mark)
    if at >= 0:
        return line[at:]
    return line if line.lstrip().startswith("* ") else ""


def faults_of(name, text, known):
    """Yields a message for each word of a file that a rule forbids."""
    suffix = os.path.splitext(name)[1]
    is_prose = suffix in (".md", ".1", ".7", ".8")
    for number, line in enumerate(text.split("\n"), 1):
        for section, pattern, better in known:
            if section == "code" and is_prose:
                continue
            found = pattern.search(line if section != "prose" else comment_of(line, suffix, is_prose))
            if found:
                yield f"{name}:{number}: \"{found.group()}\": say {better}"


def faults():
    known = list(rules())
    names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, names):
        if name.startswith(LEFT_OUT) or (name.startswith("docs/lab/") and name.endswith(".json")) or not os.path.isfile(name):
            continue
        try:
            text = open(name, encoding="utf-8").read()
        except UnicodeDecodeError:
            continue
        yield from faults_of(name, text, known)


def fault_of_subject(subject):
    """Returns why a commit's subject is wrong, or "" if it is right."""
    if not SUBJECT.fullmatch(subject):
        return "begin with a room, as in `launch: pick the kernel by address`, and end without a period"
    return f"more than {MOST_CHARACTERS} characters" if len(subject) > MOST_CHARACTERS else ""


def subjects():
    try:
        log = git("log", "--no-merges", "--format=%h %s", f"{FIRST_COMMIT}..HEAD")
    except subprocess.CalledProcessError:
        return  # an archive, or a clone that is too shallow
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        fault = fault_of_subject(subject)
        if fault:
            yield f"commit {commit}: \"{subject}\": {fault}"


def main():
    found = [*faults(), *subjects()]
    if "--count" in sys.argv[1:]:
        print(len(found))
        return 0
    for one in found:
        print(one)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
