# SPDX-License-Identifier: Apache-2.0
"""The ways in which test_client works and ends, and the arguments that select each."""

import os
import random
import signal

STATUS = 7  # test_client's exit status, unless it is told to end in another way
WORK = {
    "signs": {"threads": 8, "signs": 6},
    "many-threads": {"threads": 64, "signs": 2},
    "bulk": {"threads": 2, "updates": 3, "kib": 2048, "signs": 0},
    "stream": {"updates": 64, "kib": 16, "signs": 1},
}
ENDS = {
    "return": {}, "exit": {"end": "exit"}, "_exit": {"end": "_exit"}, "quick": {"end": "quick"},
    "signal": {"end": "signal"}, "throw": {"end": "throw"}, "cleanup": {"cleanup": "yes"},
    "unload": {"library": "yes"}, "exec": {"exec": "yes"}, "fork-before": {"fork": "before"},
    "fork-after": {"fork": "after"}, "fork-in-thread": {"fork": "thread"},
    "cancel": {"cancel": "yes"},
}
EXPECTED = {"signal": -signal.SIGTERM, "throw": -signal.SIGABRT}


def settings(devices):
    """Returns the provider's settings, by name. With `forced` a device does all that it can, at
    once."""
    return {"default": {}, "in-process": {"in_process": "yes"},
            "forced": {"in_process": "yes", "threshold_bytes": "0", "rsa": "always",
                       "devices": devices}}


def works(end, runs, forced):
    """Yields the arguments of `runs` processes, which end at random moments."""
    for index in range(runs):
        words = {**list(WORK.values())[index % len(WORK)], **ENDS[end],
                 "after_us": random.choice((0, 0, 1000, 30000, 200000))}
        if forced and end.startswith("fork"):
            # Each process has its own emulator, and forks while the emulator's threads compute.
            words["threads"] = min(words.get("threads", 1), 8)
        yield words


def ended_as_told(end, done):
    """Returns whether a finished process has the expected status, and whether all of its output
    has arrived."""
    return done.returncode == EXPECTED.get(end, STATUS) and done.stdout.startswith(b"done ")


def arguments(words):
    return [f"{name}={value}" for name, value in words.items()]


def command(build, words):
    return [os.path.join(build, "bin", "test_client"), *arguments(words)]
