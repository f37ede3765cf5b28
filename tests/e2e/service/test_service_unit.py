# SPDX-License-Identifier: Apache-2.0
"""The systemd unit of the service: how it is restarted, and how much memory it may use."""

import re


def sections(text):
    """Returns the unit's settings, by the names of its sections."""
    found, name = {}, None
    for line in text.splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            found.setdefault(name, {})[key] = value
    return found


def unit(repository):
    return sections((repository / "dist" / "systemd" / "lanecryptd.service.in").read_text())


def test_it_is_started_again_however_often_it_ends(repository):
    assert unit(repository)["Unit"]["StartLimitIntervalSec"] == "0"
    assert "StartLimitIntervalSec" not in unit(repository)["Service"], "systemd would not read it there"


def test_its_socket_keeps_as_few_connections_as_the_services_own(repository):
    socket = sections((repository / "dist" / "systemd" / "lanecryptd.socket").read_text())
    limits = (repository / "service" / "daemon" / "limits.h").read_text()
    assert f"kMostUnaccepted = {socket['Socket']['Backlog']};" in limits


def test_the_memory_limit_is_above_all_quotas(repository):
    limit = re.fullmatch(r"(\d+)G", unit(repository)["Service"]["MemoryMax"])
    limits = (repository / "service" / "daemon" / "limits.h").read_text()
    keys = re.search(r"kMostKeyBytes = size_t\{(\d+)\} << 30;", limits)
    assert int(limit[1]) >= int(keys[1]) + 14, "docs/operate.md has the arithmetic"
    told = (repository / "docs" / "operate.md").read_text()
    assert f"MemoryMax={limit[1]}G" in told
    assert f"| {keys[1]} GiB |" in told
    # The sum in the page is below the limit.
    table = told.split("### How much memory it may take")[1].split("### ")[0]
    rows = [float(size) for size in re.findall(r"\| ([\d.]+) GiB \|", table)]
    assert abs(sum(rows[:-1]) - rows[-1]) < 0.05 and rows[-1] < int(limit[1])
