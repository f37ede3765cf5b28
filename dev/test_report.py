# SPDX-License-Identifier: Apache-2.0
"""Counts what dev/test ran: each test of GoogleTest and of pytest, each other
program that ctest started, each step of the script. Names what failed and what
was skipped, then prints 'N passed, N failed, N skipped'.

Exits with 1 when a test failed, when none passed, and with --require-gpu when
one was skipped for want of a GPU.
"""

import argparse
import collections
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

# How a test says that only a GPU was missing.
NEEDS_GPU = re.compile(r"needs a GPU|no such device here: cuda")
# These run on the host device by design, whatever is here.
WITHOUT_GPU = ("sanitize",)

Outcome = collections.namedtuple("Outcome", "stage name what why")


def cases(path):
    """(name, 'passed' | 'failed' | 'skipped', why) of each test of a JUnit file."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        # ctest has one name, and gives it twice.
        name = ".".join(dict.fromkeys(filter(None, (case.get("classname"), case.get("name")))))
        skipped = case.find("skipped")
        failed = [case.find("failure"), case.find("error")]
        if any(element is not None for element in failed) or case.get("status") == "fail":
            yield name, "failed", ""
        elif skipped is not None or case.get("status") in ("notrun", "disabled"):
            why = "" if skipped is None else (skipped.get("message") or "") + (skipped.text or "")
            yield name, "skipped", " ".join(why.split())
        else:
            yield name, "passed", ""


def gtest_cases(path):
    """The same of a file of GoogleTest's, which says 'skipped' in an attribute."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            yield name, "failed", ""
        elif case.get("result") == "skipped" or case.find("skipped") is not None:
            element = case.find("skipped")
            why = "" if element is None else (element.get("message") or "") + (element.text or "")
            # Its message begins with the place in the source.
            yield name, "skipped", " ".join(why.split())
        elif case.get("status") == "run":
            yield name, "passed", ""


def ctest_outcomes(results, stage):
    """A ctest entry counts as the tests of its GoogleTest program, where that
    wrote what they did; otherwise, or where it failed for another reason than
    one of them (a leak at the end, say), as a test."""
    programs, owners = {}, {}  # a report is one test's, or of all runs of a program
    listing = results / f"{stage}.ctest.json"
    if listing.exists() and listing.read_text().strip():
        for test in json.loads(listing.read_text()).get("tests", []):
            command = test.get("command", [""])
            programs[test["name"]] = pathlib.Path(command[0]).name
            for argument in command:
                if argument.startswith("--gtest_output=xml:"):
                    place = argument.split("/gtest/", 1)[-1]
                    owners[results / f"{stage}.gtest.each" / place] = test["name"]
    for path in (results / f"{stage}.gtest").glob("*.xml"):
        # GoogleTest numbers the files of a program that ran more than once.
        program = path.stem
        if program not in programs.values():
            program = re.sub(r"_\d+$", "", program)
        owners[path] = program
    written = {}
    for path, owner in sorted(owners.items()):
        try:
            found = list(gtest_cases(path))
        except (ElementTree.ParseError, FileNotFoundError):
            continue  # the program died before or while it wrote
        written.setdefault(owner, []).extend(found)
    for owner, found in written.items():
        program = programs.get(owner, owner)
        for name, what, why in found:
            yield Outcome(stage, f"{program}: {name}", what, why)
    entries = list(cases(results / f"{stage}.ctest.xml"))
    if not entries:
        yield Outcome(stage, "there was no test", "failed", "")
    for name, what, why in entries:
        program = programs.get(name)
        owner = name if name in written else program
        if owner not in written:
            yield Outcome(stage, name, what, why)
        elif what == "failed" and not any(w == "failed" for _, w, _ in written[owner]):
            yield Outcome(stage, f"{program}: its end (crash, leak or time limit)", what, why)


def all_outcomes(results):
    steps = results / "steps.txt"
    if steps.exists():
        for line in steps.read_text().splitlines():
            what, name = line.split(" ", 1)
            yield Outcome("step", name, what, "")
    for path in sorted(results.glob("*.ctest.xml")):
        yield from ctest_outcomes(results, path.name.removesuffix(".ctest.xml"))
    for path in sorted(results.glob("*.pytest.xml")):
        stage = path.name.removesuffix(".pytest.xml")
        for name, what, why in cases(path):
            yield Outcome(stage, name, what, why)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--require-gpu", action="store_true")
    options = parser.parse_args()

    outcomes = list(all_outcomes(options.results))
    skipped = [o for o in outcomes if o.what == "skipped"]
    for_gpu = [o for o in skipped if NEEDS_GPU.search(o.why) and o.stage not in WITHOUT_GPU]
    elsewhere = [o for o in skipped if o not in for_gpu]
    if elsewhere:
        print("\nSkipped:")
        # The host-only runs skip every other device's tests, for one reason.
        reasons = collections.Counter((o.stage, o.why) for o in elsewhere)
        shown = set()
        for o in elsewhere:
            if reasons[o.stage, o.why] <= 3:
                print(f"  {o.stage}: {o.name}: {o.why}")
            elif (o.stage, o.why) not in shown:
                shown.add((o.stage, o.why))
                print(f"  {o.stage}: {reasons[o.stage, o.why]} tests, such as {o.name}: {o.why}")
    if for_gpu:
        print("\nSkipped for want of a GPU:")
        for o in for_gpu:
            print(f"  {o.stage}: {o.name}")
    failed = [o for o in outcomes if o.what == "failed"]
    if options.require_gpu:
        failed += for_gpu
        skipped = elsewhere
        if for_gpu:
            print(f"{len(for_gpu)} of these are failures: --require-gpu")
    if failed:
        print("\nFailed:")
        for o in failed:
            print(f"  {o.stage}: {o.name}")
    passed = [o for o in outcomes if o.what == "passed"]
    tests_passed = [o for o in passed if o.stage != "step"]
    if not tests_passed:
        print("\nNo test passed: that is a failure too")
    print(f"\n{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 0 if tests_passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
