# SPDX-License-Identifier: Apache-2.0
"""Counts what dev/test ran: each test of GoogleTest and of pytest, each other program that ctest
started, and each step of the script. Names what failed. Says why tests were skipped and how many,
and with --list-skipped which ones. Then prints 'N passed, N failed, N skipped'. Exits with 1 if a
test failed, if none passed, or, with --require-gpu, if one was skipped because it needs a GPU."""

import argparse
import collections
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

# The words by which a test says that only a GPU was missing.
NEEDS_GPU = re.compile(r"needs a GPU|no such device here: cuda")
# These run on the host device by design, on every machine.
WITHOUT_GPU = ("sanitize",)

Outcome = collections.namedtuple("Outcome", "stage name what why")


def cases(path):
    """Yields (name, 'passed' | 'failed' | 'skipped', why) for each test of a JUnit file."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        # ctest writes its single name twice.
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


def outputs(path):
    """Returns the output of each test of a JUnit file, as far as ctest kept it."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        yield case.findtext("system-out") or ""


def gtest_cases(path):
    """Does the same for a file of GoogleTest, which says 'skipped' in an attribute."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            yield name, "failed", ""
        elif case.get("result") == "skipped" or case.find("skipped") is not None:
            element = case.find("skipped")
            why = "" if element is None else (element.get("message") or "") + (element.text or "")
            # The message begins with the position in the source.
            yield name, "skipped", " ".join(why.split())
        elif case.get("status") == "run":
            yield name, "passed", ""


def unfinished_cases(output):
    """Does the same from the output of a GoogleTest program that died or was ended before it
    wrote its report. The test that was running has failed, and so has each that had not begun.
    Their names are not known."""
    total = re.search(r"^\[=+\] Running (\d+) tests? from", output, re.M)
    if not total:
        return
    begun, at, said = 0, None, []
    for line in output.splitlines():
        # The code under test may have printed something before it, without a newline.
        word = re.search(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] (\S+?)(?:,| \(|$)", line)
        mark = word and word.group(1)
        if mark == "RUN":
            begun, at, said = begun + 1, word.group(2), []
        elif mark and word.group(2) == at:
            what = {"OK": "passed", "SKIPPED": "skipped"}.get(mark, "failed")
            yield at, what, " ".join(" ".join(said).split()) if what == "skipped" else ""
            at = None
        else:
            said.append(line)
    if at:
        yield f"{at}, in which it died or ran out of time", "failed", ""
    for _ in range(int(total.group(1)) - begun):
        yield "a test that it had not begun", "failed", ""


def ctest_outcomes(results, stage):
    """A ctest entry of a GoogleTest program counts as the program's tests, by its report or else
    by its output. If the program failed for another reason than a test, such as a leak at its
    end, that counts too. Any other entry counts as one test."""
    programs, reports = {}, {}
    listing = results / f"{stage}.ctest.json"
    if listing.exists() and listing.read_text().strip():
        for test in json.loads(listing.read_text()).get("tests", []):
            command = test.get("command", [""])
            programs[test["name"]] = pathlib.Path(command[0]).name
            for argument in command:
                if argument.startswith("--gtest_output=xml:"):
                    place = argument.split("/gtest/", 1)[-1]
                    reports[test["name"]] = results / f"{stage}.gtest" / place
    entries = list(cases(results / f"{stage}.ctest.xml"))
    if not entries:
        yield Outcome(stage, "there was no test", "failed", "")
    for (name, what, why), output in zip(entries, outputs(results / f"{stage}.ctest.xml")):
        if name not in reports:
            yield Outcome(stage, name, what, why)
            continue
        program = programs[name]
        try:
            found = list(gtest_cases(reports[name]))
        except (ElementTree.ParseError, FileNotFoundError):
            found = list(unfinished_cases(output)) if what == "failed" else []
            if not any(w == "failed" for _, w, _ in found):
                # Without a report nothing says what it did, even if it ended with success.
                yield Outcome(stage, f"{program}: {name} wrote no report", "failed", why)
        else:
            if what == "failed" and not any(w == "failed" for _, w, _ in found):
                yield Outcome(stage, f"{program}: its end (crash, leak or time limit)", what, why)
        for case, case_what, case_why in found:
            yield Outcome(stage, f"{program}: {case}", case_what, case_why)


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
            # pytest-xdist appends a test's group to its name.
            yield Outcome(stage, re.sub(r"@[\w-]+$", "", name), what, why)


def reason(outcome):
    """Returns why a test was skipped, without the position in the source. The text may occur
    twice, each time after its position."""
    place = r"\.*(?:/\S+|\b[\w.]+)\.(?:cpp|h|py):\d+:?(?: Skipped)?"
    parts = [part.strip() for part in re.split(place, outcome.why)]
    return next(filter(None, parts), "")


def print_skipped(elsewhere, for_gpu, with_names):
    if with_names and elsewhere + for_gpu:
        print("\nSkipped:")
        for o in elsewhere + for_gpu:
            print(f"  {o.stage}: {o.name}: {reason(o)}")
        return
    if elsewhere:
        print("\nSkipped, and how many:")
        for why, count in collections.Counter(map(reason, elsewhere)).most_common():
            print(f"  {count}: {why}")
    if for_gpu:
        print(f"\nSkipped for want of a GPU: {len(for_gpu)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--require-gpu", action="store_true")
    parser.add_argument("--list-skipped", action="store_true")
    options = parser.parse_args()

    outcomes = list(all_outcomes(options.results))
    skipped = [o for o in outcomes if o.what == "skipped"]
    for_gpu = [o for o in skipped if NEEDS_GPU.search(o.why) and o.stage not in WITHOUT_GPU]
    elsewhere = [o for o in skipped if o not in for_gpu]
    print_skipped(elsewhere, for_gpu, options.list_skipped or options.require_gpu)
    failed = [o for o in outcomes if o.what == "failed"]
    if options.require_gpu:
        failed += for_gpu
        skipped = elsewhere
        if for_gpu:
            print(f"{len(for_gpu)} of these are failures: --require-gpu")
    if failed:
        print("\nFailed:")
        for (stage, name), times in collections.Counter((o.stage, o.name) for o in failed).items():
            print(f"  {stage}: {name}" + (f" ({times} times)" if times > 1 else ""))
    passed = [o for o in outcomes if o.what == "passed"]
    tests_passed = [o for o in passed if o.stage != "step"]
    if not tests_passed:
        print("\nNo test passed: that is a failure too")
    print(f"\n{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 0 if tests_passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
