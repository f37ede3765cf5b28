# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt run`: where it makes its folder. No other user can take the folder's name from
processes that the program has left behind."""

import os
import shutil
import stat
import subprocess

import pytest

from cli_fixtures import LANECRYPT, environment
from run_fixtures import (AS_NOBODY, NOBODY, RUN_FAILED, keeper_of, ok, own, run, script,  # noqa: F401
                          until, words)

OTHER = 4711
# Only root can write to either of these.
NO_HOME = {"HOME": "/nonexistent", "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": "", "TMPDIR": ""}
FOLDER = 'f=$(dirname "$OPENSSL_CONF"); echo "$f"; stat -c "%a %u" "$f"'

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")


def folder_of(done):
    folder, mode = ok(done).splitlines()
    assert mode.startswith("700 ")
    return folder


def as_nobody(text, **variables):
    return run("sh", "-c", text, env={**NO_HOME, **{name: str(value) for name, value in variables.items()}},
               **AS_NOBODY)


@needs_root
def test_roots_folder_is_in_run(tmp_path):
    tmp_path.chmod(0o700)
    for variables in ({}, {"XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path)}):
        folder = folder_of(script(FOLDER, env=variables))
        assert os.path.dirname(folder) == "/run"
        until(lambda: not os.path.exists(folder))


def test_a_users_folder_is_in_the_runtime_directory(own):
    folder = folder_of(as_nobody(FOLDER, XDG_RUNTIME_DIR=own, HOME="/", TMPDIR="/no/such/folder"))
    assert os.path.dirname(folder) == str(own)
    until(lambda: not os.path.exists(folder))
    # The command makes no state directory that it does not use.
    folder = folder_of(as_nobody(FOLDER, XDG_RUNTIME_DIR=own, HOME=own))
    until(lambda: not os.path.exists(folder))
    assert os.listdir(own) == []


@needs_root
@pytest.mark.parametrize("fault", ["others may enter", "of another user", "below one of another user"])
def test_a_runtime_directory_that_is_not_the_users_own_is_not_taken(own, fault):
    """The state directory is used instead, and created."""
    runtime = f"{own}/above/runtime"
    os.makedirs(runtime, 0o700)
    os.mkdir(f"{own}/home")
    for path in (f"{own}/above", runtime, f"{own}/home"):
        os.chown(path, NOBODY, NOBODY)
    if fault == "others may enter":
        os.chmod(runtime, 0o711)
    elif fault == "of another user":
        os.chown(runtime, OTHER, OTHER)
    else:
        os.chown(f"{own}/above", OTHER, OTHER)
        os.chmod(f"{own}/above", 0o755)
    folder = folder_of(as_nobody(FOLDER, XDG_RUNTIME_DIR=runtime, HOME=f"{own}/home"))
    assert os.path.dirname(folder) == f"{own}/home/.local/state"
    for made in (".local", ".local/state"):
        its = os.stat(f"{own}/home/{made}")
        assert (stat.S_IMODE(its.st_mode), its.st_uid) == (0o700, NOBODY)
    until(lambda: not os.path.exists(folder))
    assert os.listdir(f"{own}/home/.local/state") == []


def test_the_state_directory_may_be_named(own):
    folder = folder_of(as_nobody(FOLDER, XDG_STATE_HOME=f"{own}/deep/state", HOME="/nonexistent"))
    assert os.path.dirname(folder) == f"{own}/deep/state"
    until(lambda: not os.path.exists(folder))


@needs_root
def test_a_home_of_another_user_is_not_taken(own):
    """As with a `sudo` that keeps HOME."""
    os.chown(own, OTHER, OTHER)
    os.chmod(own, 0o777)
    folder = folder_of(as_nobody(FOLDER, HOME=own))
    assert folder.startswith("/tmp/lanecrypt-run.") and os.listdir(own) == []
    shutil.rmtree(folder)


# Tries to take the folder's name, in each way in which another user could.
TAKE = """
import os, sys
folder = sys.argv[1]
os.setgroups([]); os.setgid(4711); os.setuid(4711)
for attempt in (os.mkdir, os.rmdir, os.unlink, os.listdir, lambda path: os.rename(path, path + ".moved"),
                lambda path: os.symlink("/", path), lambda path: os.open(path + "/openssl.cnf", os.O_CREAT | os.O_WRONLY)):
    try:
        attempt(folder)
    except OSError:
        continue
    sys.exit(1)
"""


@pytest.mark.parametrize("end", ["by itself", "killed", "keeper killed"])
def test_in_a_folder_of_all_it_stays_for_those_left_behind(end):
    """A process that the program left behind uses OPENSSL_CONF from the folder, and the socket
    that its `service =` names."""
    process = subprocess.Popen(words("sh", "-c", 'sleep 60 >&- 2>&- & echo "$! $OPENSSL_CONF"; read line'),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment("host", **NO_HOME),
                               start_new_session=True, **AS_NOBODY)
    left, configuration = process.stdout.readline().decode().split()
    folder = os.path.dirname(configuration)
    try:
        assert os.path.dirname(folder) == "/tmp"
        keeper = keeper_of(folder)
        if end != "by itself":
            os.kill(process.pid if end == "killed" else keeper, 9)
        process.communicate(b"go on\n", timeout=60)
        until(lambda: not os.path.exists(f"/proc/{keeper}"))
        if end != "keeper killed":
            assert os.listdir(folder) == []
        its = os.lstat(folder)
        assert stat.S_ISDIR(its.st_mode) and (stat.S_IMODE(its.st_mode), its.st_uid) == (0o700, NOBODY)
        with open(f"/proc/{left}/environ", encoding="utf-8") as variables:
            assert f"OPENSSL_CONF={configuration}\0" in variables.read()
        if os.geteuid() == 0:
            subprocess.run(["/usr/bin/python3", "-c", TAKE, folder], timeout=60, check=True)
    finally:
        os.kill(int(left), 9)
        shutil.rmtree(folder)


def test_a_later_run_does_not_take_a_folder_that_stayed():
    folders = {folder_of(as_nobody(FOLDER)) for _ in range(2)}
    assert len(folders) == 2
    for folder in folders:
        until(lambda: os.listdir(folder) == [])
        shutil.rmtree(folder)


@needs_root
def test_tmpdir(own):
    """TMPDIR is the last resort too. If it belongs to the user, the folder does not stay."""
    folder = folder_of(as_nobody(FOLDER, TMPDIR=own))
    assert os.path.dirname(folder) == str(own)
    until(lambda: os.listdir(own) == [])
    # With the owner and mode of /tmp.
    os.chown(own, 0, 0)
    os.chmod(own, 0o1777)
    folder = folder_of(as_nobody(FOLDER, TMPDIR=own))
    assert os.path.dirname(folder) == str(own)
    until(lambda: os.listdir(folder) == [])
    folder = folder_of(as_nobody(FOLDER, TMPDIR=own / ("x" * 100)))
    assert os.path.dirname(folder) == "/tmp"
    shutil.rmtree(folder)
    done = as_nobody("exit 0", TMPDIR="/no/such/folder")
    assert done.returncode == RUN_FAILED
    assert b"cannot make a folder in /no/such/folder: No such file or directory" in done.stderr


@needs_root
@pytest.mark.parametrize("others", ["write", "own", "write below", "own a link", "own a dangling link",
                                    "own a closed folder", "own the folder above", "may make it"])
def test_a_temporary_folder_in_which_others_could_move_it_is_not_taken(own, others):
    """They could replace it by one with their own configuration, and bring code into the
    program."""
    inside = f"{own}/inside"
    os.mkdir(inside, 0o755)
    os.chown(inside, NOBODY, NOBODY)
    temporary = [own, inside]
    if others == "write":
        os.chmod(own, 0o777)
    elif others == "own":
        os.chmod(own, 0o755)
        os.chown(own, OTHER, OTHER)
    elif others == "write below":
        os.chmod(inside, 0o775)
        temporary = [inside]
    elif others == "own a closed folder":
        os.chmod(inside, 0o700)
        os.chown(inside, OTHER, OTHER)
        temporary = [inside, f"{inside}/below"]
    elif others == "own the folder above":
        os.chown(inside, OTHER, OTHER)
        temporary = [f"{inside}/not-there", f"{inside}/not/there"]
    elif others == "may make it":
        os.chown(own, 0, 0)
        os.chmod(own, 0o1777)
        temporary = [f"{own}/not-there", f"{own}/not/there"]
    else:
        os.symlink("inside" if others == "own a link" else "not-there", f"{own}/link")
        os.lchown(f"{own}/link", OTHER, OTHER)
        temporary = [f"{own}/link"]
    for name in temporary:
        folder = folder_of(as_nobody(FOLDER, TMPDIR=name))
        assert folder.startswith("/tmp/lanecrypt-run."), folder
        shutil.rmtree(folder)


@needs_root
@pytest.mark.parametrize("variables", [{"XDG_STATE_HOME": "{}/theirs/a/b"}, {"HOME": "{}/home"}])
def test_no_state_directory_is_made_where_another_user_could_move_it(own, variables):
    for name in ("theirs", "home"):
        os.mkdir(f"{own}/{name}")
    os.chmod(f"{own}/theirs", 0o777)
    os.chown(f"{own}/theirs", OTHER, OTHER)
    os.symlink("../theirs", f"{own}/home/.local")
    os.chown(f"{own}/home", NOBODY, NOBODY)
    folder = folder_of(as_nobody(FOLDER, **{name: value.format(own) for name, value in variables.items()}))
    assert folder.startswith("/tmp/lanecrypt-run."), folder
    shutil.rmtree(folder)
    assert os.listdir(f"{own}/theirs") == []


@pytest.mark.parametrize("other", ["link", "folder"])
def test_what_has_taken_the_place_of_the_folder_is_not_emptied(own, other):
    """The folder itself is emptied, with everything below it, wherever it has been moved to."""
    put = 'ln -s "$HOME/precious" "$f"' if other == "link" else 'mv "$HOME/precious" "$f"'
    text = ('f=$(dirname "$OPENSSL_CONF"); echo "$f"; mkdir -p "$f/a/b" "$HOME/precious/sub"; '
            'ln -s "$HOME/precious" "$f/a/link"; for n in "$f/a/b" "$HOME/precious" "$HOME/precious/sub"; '
            f'do echo text >"$n/file"; done; mv "$f" "$HOME/moved"; {put}')
    folder = ok(as_nobody(text, HOME=own)).strip()
    assert os.path.dirname(folder) == f"{own}/.local/state"
    until(lambda: os.listdir(f"{own}/moved") == [])
    there = folder if other == "folder" else f"{own}/precious"
    assert sorted(os.listdir(there)) == ["file", "sub"] and os.listdir(f"{there}/sub") == ["file"]
    assert os.path.islink(folder) == (other == "link")


@needs_root
def test_a_file_system_without_sockets_is_passed_over(own):
    """Some users have their homes on such a file system."""
    if not shutil.which("unshare"):
        pytest.skip("there is no unshare")
    # In a mount namespace, so that nothing is mounted for other processes.
    text = (f"mount -t ramfs none {own} && chown {NOBODY} {own} && chmod 700 {own} && mount -o remount,ro {own} && "
            f"exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups {LANECRYPT} run -- sh -c '{FOLDER}'")
    done = subprocess.run(["unshare", "-m", "sh", "-c", text], capture_output=True, timeout=120, check=False,
                          env=environment("host", **{**NO_HOME, "XDG_RUNTIME_DIR": str(own)}), cwd="/")
    if b"mount" in done.stderr or b"unshare" in done.stderr:
        pytest.skip("nothing may be mounted here")
    folder = folder_of(done)
    assert folder.startswith("/tmp/lanecrypt-run."), folder
    shutil.rmtree(folder)
