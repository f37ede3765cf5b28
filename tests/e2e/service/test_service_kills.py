# SPDX-License-Identifier: Apache-2.0
"""lanecryptd is killed, stopped and restarted under its clients' load, and its clients are
killed. No operation may fail or be wrong, and the service keeps nothing of killed clients.

LANECRYPT_TEST_KILLS is the number of times that the service is killed (6). Four times as many
clients are killed. bench/service/kills.py does the same as a separate program.
"""

import os
import sys

import pytest

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "bench" / "service"))
import kills  # noqa: E402

KILLS = int(os.environ.get("LANECRYPT_TEST_KILLS", "6"))
SEED = int(os.environ.get("LANECRYPT_TEST_SEED", "1"))


@pytest.fixture
def stage(build, tmp_path):
    # With other settings no operation would go to the emulator.
    return kills.Stage(build, tmp_path, "host", 1024, {"rsa": "always"}, SEED)


def test_no_operation_is_lost_with_the_service(stage):
    told = kills.kill_service(stage, KILLS)
    assert (told["failures"], told["wrong"]) == (0, 0), told
    assert told["operations"] > 0
    # Otherwise the service would have been killed while it was idle.
    assert told["amid"] > 0, told


def test_nothing_is_left_of_killed_clients(stage):
    told = kills.kill_clients(stage, 4 * KILLS)
    assert told["done"] > 0, told


def test_a_wrong_signature_is_seen(build, stage, tmp_path):
    """A client that verifies with another key reports that everything is wrong. This shows that
    the tests above can fail."""
    broken = tmp_path / "broken.pem"
    broken.write_text("no key")
    with pytest.raises(kills.CrowdFailed, match="cannot read the key"):
        kills.Crowd([[build / "bin" / "sign_client", f"keys={broken}"]], stage.environment, tmp_path)
