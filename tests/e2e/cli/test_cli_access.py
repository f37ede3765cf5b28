# SPDX-License-Identifier: Apache-2.0
"""Who may read and write the files that the command writes. If a file is replaced, the new one
has the same access, however that was set up; otherwise the command refuses and leaves the file
unchanged."""

import fcntl
import os
import pathlib
import shutil
import socket
import stat
import struct
import subprocess
import tempfile
import threading

import pytest

from cli_fixtures import FAILED, LANECRYPT, USAGE, data, environment, fails, lanecrypt, ok, openssl
from test_cli_errors import LIBRARIES, in_namespace, reachable

KEY = "0123456789abcdef" * 2
RAW = ["-aes-128-ctr", "-K", KEY, "-iv", KEY]
PLAIN = data(5000)

ALICE, BOB, CAROL = 61_801, 61_802, 61_803
STAFF, OTHERS = 61_901, 61_902

root = pytest.mark.skipif(os.geteuid() != 0 or not reachable(LANECRYPT),
                          reason="only root gives files away, to users who reach the build folder")

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
# Tags of ACL entries.
USER_OBJ, USER, GROUP_OBJ, GROUP, MASK, OTHER = 1, 2, 4, 8, 16, 32


def acl(*entries):
    """Returns the value of the extended attribute, from entries of a tag, permissions and a
    number."""
    packed = [struct.pack("<HHI", tag, mode, *(number or [0xffffffff])) for tag, mode, *number in entries]
    return struct.pack("<I", 2) + b"".join(packed)


def has_acls(folder):
    probe = pathlib.Path(folder) / "probe"
    probe.touch()
    try:
        os.setxattr(probe, ACCESS, acl((USER_OBJ, 6), (USER, 4, ALICE), (GROUP_OBJ, 0), (MASK, 4), (OTHER, 0)))
        return True
    except OSError:
        return False
    finally:
        probe.unlink()


@pytest.fixture(params=["/tmp", "/dev/shm"])
def folder(request):
    """A folder that other users can enter, on a disk and on a RAM disk, where files are written
    in different ways."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="lanecrypt-access-", dir=request.param))
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


@pytest.fixture
def acl_folder(folder):
    if not has_acls(folder):
        pytest.skip("the file system has no ACLs")
    return folder


def access(path):
    entry = os.stat(path)
    names = [name for name in os.listxattr(path) if name.startswith(("system.", "security."))]
    return entry.st_uid, entry.st_gid, stat.S_IMODE(entry.st_mode), {name: os.getxattr(path, name) for name in names}


def become(user, group, *groups):
    def change():
        os.setgroups(groups)
        os.setgid(group)
        os.setuid(user)
    return change


def sealed(plain=PLAIN):
    return openssl("enc", *RAW, stdin=plain).stdout


def replace(out, **options):
    """Replaces a file, whose access must not change."""
    before, node = access(out), os.stat(out).st_ino
    ok("enc", *RAW, "-out", out, stdin=PLAIN, **options)
    assert out.read_bytes() == sealed() and os.stat(out).st_ino != node
    assert access(out) == before
    assert os.listdir(out.parent) == [out.name]


ACLS = {
    "a user who reads": acl((USER_OBJ, 6), (USER, 4, BOB), (GROUP_OBJ, 0), (MASK, 4), (OTHER, 0)),
    "a user who is kept out": acl((USER_OBJ, 6), (USER, 0, BOB), (GROUP_OBJ, 4), (MASK, 4), (OTHER, 4)),
    "a group": acl((USER_OBJ, 6), (GROUP_OBJ, 4), (GROUP, 6, STAFF), (MASK, 6), (OTHER, 0)),
    "a narrower mask": acl((USER_OBJ, 6), (USER, 6, BOB), (GROUP_OBJ, 6), (GROUP, 6, STAFF), (MASK, 4), (OTHER, 0)),
    "an empty mask": acl((USER_OBJ, 6), (USER, 4, BOB), (GROUP_OBJ, 4), (MASK, 0), (OTHER, 0)),
}


@pytest.mark.parametrize("value", ACLS.values(), ids=ACLS)
def test_an_acl_is_passed_on(acl_folder, value):
    out = acl_folder / "out"
    out.write_bytes(b"old")
    os.setxattr(out, ACCESS, value)
    replace(out, umask=0)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o206, 0o777])
def test_the_folders_default_acl_lets_nobody_in(acl_folder, mode):
    out = acl_folder / "out"
    out.write_bytes(b"old")
    out.chmod(mode)
    os.setxattr(acl_folder, DEFAULT, acl((USER_OBJ, 7), (USER, 7, BOB), (GROUP_OBJ, 7), (MASK, 7), (OTHER, 7)))
    replace(out)


def test_a_new_file_has_the_folders_default_acl(acl_folder):
    os.setxattr(acl_folder, DEFAULT, acl((USER_OBJ, 7), (USER, 4, BOB), (GROUP_OBJ, 0), (MASK, 4), (OTHER, 0)))
    (acl_folder / "like").touch()
    ok("enc", *RAW, "-out", acl_folder / "out", stdin=PLAIN)
    assert access(acl_folder / "out") == access(acl_folder / "like")


def test_a_private_key_is_its_owners_alone(acl_folder):
    """Whatever the folder and an old file allow."""
    os.setxattr(acl_folder, DEFAULT, acl((USER_OBJ, 7), (USER, 7, BOB), (GROUP_OBJ, 7), (MASK, 7), (OTHER, 7)))
    out = acl_folder / "key.pem"
    for command in (["genrsa", "-out", out, "1024"], ["slh-dsa", "keygen", "--out", out, "SHA2-128f"]):
        for _ in range(2):
            ok(*command)
            assert access(out) == (os.geteuid(), os.getegid(), 0o600, {})
            os.setxattr(out, ACCESS, ACLS["a user who reads"])
        out.unlink()
    acl_folder.chmod(0o700)
    for words, name in ((["genrsa", "1024"], "rsa"), (["slh-dsa", "keygen", "SHA2-128f"], "slh")):
        os.mkdir(acl_folder / name, 0o700)
        ok(*words, "--count", 1, "--out-dir", acl_folder / name)
        assert access(acl_folder / name / "key-00000001.pem") == (os.geteuid(), os.getegid(), 0o600, {})


def test_a_signature_passes_access_on(acl_folder):
    """So does every file of the command that replaces another, not only those of enc and dec."""
    key, message, signature, public = (acl_folder / name for name in ("key", "message", "message.sig", "public"))
    message.write_bytes(b"message")
    ok("slh-dsa", "keygen", "--out", key, "SHA2-128f")
    for path in (signature, public):
        path.write_bytes(b"old")
        os.setxattr(path, ACCESS, ACLS["a user who reads"])
    before = access(signature)
    ok("slh-dsa", "sign", "--key", key, message)
    ok("slh-dsa", "public", "--key", key, "--out", public)
    assert access(signature) == access(public) == before
    assert signature.stat().st_size > 10_000 and public.read_bytes().startswith(b"-----BEGIN PUBLIC")


@root
def test_labels_are_passed_on(folder):
    """Attributes that describe the contents are not."""
    out = folder / "out"
    out.write_bytes(b"old")
    os.setxattr(out, "security.label", b"secret")
    replace(out)
    os.setxattr(out, "security.capability", bytes.fromhex("0000000200040000000000000000000000000000"))
    ok("enc", *RAW, "-out", out, stdin=PLAIN)
    assert list(access(out)[3]) == ["security.label"]
    # Only root may set such a label.
    out.parent.chmod(0o777)
    os.chown(out, BOB, STAFF)
    before = access(out), out.read_bytes()
    fails(FAILED, "cannot give it the same attribute security.label", "enc", *RAW, "-out", out, stdin=b"x",
          preexec_fn=become(BOB, STAFF))
    assert (access(out), out.read_bytes()) == before and os.listdir(folder) == ["out"]


@root
@pytest.mark.parametrize("mode", [0o600, 0o660, 0o604])
def test_root_passes_owner_and_group_on(folder, mode):
    out = folder / "out"
    out.write_bytes(b"old")
    out.chmod(mode)
    os.chown(out, ALICE, STAFF)
    replace(out)
    out.unlink()
    # The same in a folder whose group is given to new files.
    os.chown(folder, 0, OTHERS)
    folder.chmod(0o2755)
    out.write_bytes(b"old")
    os.chown(out, ALICE, STAFF)
    out.chmod(mode)
    replace(out)


@root
def test_an_owner_passes_a_group_on(folder):
    """The group is one of the owner's, though not its primary one, and the folder's group is a
    third."""
    os.chown(folder, ALICE, OTHERS)
    folder.chmod(0o2755)
    out = folder / "out"
    out.write_bytes(b"old")
    os.chown(out, ALICE, STAFF)
    out.chmod(0o640)
    replace(out, preexec_fn=become(ALICE, 61_950, STAFF))


def refused(out, why, user, group, *groups):
    before = access(out), out.read_bytes(), os.stat(out).st_ino
    done = fails(FAILED, why, "enc", *RAW, "-out", out, stdin=b"x", preexec_fn=become(user, group, *groups))
    assert f"'{out}'".encode() in done.stderr and f"> {out}".encode() in done.stderr
    assert (access(out), out.read_bytes(), os.stat(out).st_ino) == before
    assert os.listdir(out.parent) == [out.name]
    # The advice in the message works.
    with out.open("r+b") as target:
        ok("enc", *RAW, stdin=PLAIN, stdout=target, preexec_fn=become(user, group, *groups))
    assert out.read_bytes() == sealed() and access(out) == before[0]


@root
def test_a_member_of_the_group_does_not_take_the_file(folder):
    os.chown(folder, ALICE, STAFF)
    folder.chmod(0o2775)
    out = folder / "out"
    out.write_bytes(b"old")
    os.chown(out, ALICE, STAFF)
    out.chmod(0o664)
    refused(out, f"the same owner, user {ALICE}", BOB, OTHERS, STAFF)
    refused(out, f"the same owner, user {ALICE}", BOB, STAFF)


@root
def test_who_may_write_by_an_acl_does_not_take_the_file(acl_folder):
    acl_folder.chmod(0o777)
    out = acl_folder / "out"
    out.write_bytes(b"old")
    os.chown(out, ALICE, STAFF)
    os.setxattr(out, ACCESS, acl((USER_OBJ, 6), (USER, 6, BOB), (GROUP_OBJ, 0), (MASK, 6), (OTHER, 0)))
    refused(out, f"the same owner, user {ALICE}", BOB, OTHERS)


@root
def test_an_owner_outside_its_group_does_not_take_the_group_away(folder):
    folder.chmod(0o777)
    out = folder / "out"
    out.write_bytes(b"old")
    os.chown(out, ALICE, STAFF)
    out.chmod(0o660)
    refused(out, f"the same group, {STAFF}", ALICE, OTHERS)


@root
def test_a_key_does_not_replace_another_users(folder):
    out = folder / "key.pem"
    out.write_bytes(b"old")
    os.chown(out, ALICE, STAFF)
    for words in (["genrsa", "-out", out, "1024"], ["slh-dsa", "keygen", "--out", out, "SHA2-128f"]):
        fails(FAILED, "belongs to another user", *words)
    assert out.read_bytes() == b"old" and os.stat(out).st_uid == ALICE


@root
def test_a_folder_that_cannot_be_written(folder):
    """The file itself can be written: the message says how."""
    out = folder / "out"
    out.write_bytes(b"old")
    os.chown(out, ALICE, STAFF)
    refused(out, "Permission denied", ALICE, STAFF)


def attribute(path, flag):
    """As chattr: sets a flag of the file, or skips. Returns a function that clears it."""
    get, put = 0x80086601, 0x40086602  # with the size of a long, though the kernel uses an int

    def call(request, number):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            return struct.unpack("=l", fcntl.ioctl(descriptor, request, struct.pack("=l", number)))[0]
        finally:
            os.close(descriptor)

    try:
        old = call(get, 0)
        call(put, old | flag)
    except OSError:
        pytest.skip("the file system or this user cannot set it")
    return lambda: call(put, old)


@root
@pytest.mark.parametrize("flag, of, why", [(0x20, "out", "append-only or immutable"), (0x10, "out", "not permitted"),
                                           (0x20, ".", "folder is append-only")])
def test_what_no_rename_replaces(folder, flag, of, why):
    """The command reports this before the work, not after it."""
    out = folder / "out"
    out.write_bytes(b"old")
    undo = attribute(folder / of, flag)
    try:
        fails(FAILED, why, "enc", *RAW, "-in", "/dev/zero", "-out", out, timeout=60)
    finally:
        undo()
    assert out.read_bytes() == b"old" and os.listdir(folder) == ["out"]


def test_a_mount_point(tmp_path):
    """Such as a file that is mounted into a container."""
    source, out = tmp_path / "source", tmp_path / "out"
    source.write_bytes(b"old")
    out.touch()
    done = in_namespace('mount --bind "$2" "$3" || exit 99;'
                        f'timeout 60 "$1" enc {" ".join(RAW)} -in /dev/zero -out "$3"; echo "code $?"',
                        LANECRYPT, source, out)
    assert done.stdout == b"code 1\n" and b"it is a mount point" in done.stderr, done
    assert source.read_bytes() == b"old"


def slow(out, *words, **options):
    """A run that has begun to write, and waits for more input."""
    process = subprocess.Popen([LANECRYPT, "enc", *RAW, "-out", out, "--chunk", "65536", *words], stdin=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=environment("none", LD_LIBRARY_PATH=LIBRARIES), **options)
    text = data(1 << 20) * 12
    process.stdin.write(text)
    process.stdin.flush()
    return process, text


def test_access_that_changes_meanwhile(acl_folder):
    out = acl_folder / "out"
    out.write_bytes(b"old")
    out.chmod(0o666)
    process, text = slow(out)
    os.setxattr(out, ACCESS, ACLS["a user who is kept out"])
    before = access(out)
    assert process.communicate()[1] == b"" and process.returncode == 0
    assert access(out) == before and out.read_bytes() == sealed(text)
    # A file that appears only before the end.
    out.unlink()
    process, text = slow(out)
    out.touch()
    os.setxattr(out, ACCESS, ACLS["a user who is kept out"])
    assert process.communicate()[1] == b"" and process.returncode == 0
    assert access(out) == before and out.read_bytes() == sealed(text)
    # A file that is removed is created again, with its earlier access.
    process, text = slow(out)
    out.unlink()
    assert process.communicate()[1] == b"" and process.returncode == 0
    # Another kind of file at the path is not replaced.
    (acl_folder / "other").write_bytes(b"other")
    process, text = slow(out)
    out.unlink()
    out.symlink_to("other")
    assert b"has become another file" in process.communicate()[1] and process.returncode == FAILED
    assert out.is_symlink() and (acl_folder / "other").read_bytes() == b"other"


def test_named_temporaries_pass_access_on(acl_folder):
    """The kernel provides no unnamed files here."""
    out = acl_folder / "out"
    out.write_bytes(b"old")
    os.setxattr(out, ACCESS, ACLS["a user who reads"])
    before = access(out)
    (acl_folder / "plain").write_bytes(PLAIN)
    done = in_namespace(f'mount -t tmpfs none /proc || exit 99; "$1" enc {" ".join(RAW)} -in "$2/plain" -out "$2/out"',
                        LANECRYPT, acl_folder)
    assert done.returncode == 0 and access(out) == before and out.read_bytes() == sealed()
    assert sorted(os.listdir(acl_folder)) == ["out", "plain"]


def test_a_file_system_without_acls(tmp_path):
    script = f"""
        mount -t ramfs none "$2" || exit 99
        printf old > "$2/out"; chmod 640 "$2/out"; chown "$3" "$2/out" || exit 99
        printf abc | "$1" enc {" ".join(RAW)} -out "$2/out"; echo "code $? $(stat -c '%a %u %g %s' "$2/out")"
    """
    owner, group = (ALICE, STAFF) if os.geteuid() == 0 else (0, 0)
    done = in_namespace(script, LANECRYPT, tmp_path, f"{owner}:{group}")
    assert done.stdout.decode() == f"code 0 640 {owner} {group} 3\n", done


def test_unmapped_owners(tmp_path):
    """In a user namespace all users from outside look like the same one."""
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    out = tmp_path / "out"
    for owner, group in ((ALICE, 0), (0, STAFF)):
        out.write_bytes(b"old")
        out.chmod(0o666)
        os.chown(out, owner, group)
        tmp_path.chmod(0o777)
        done = subprocess.run(["unshare", "-rm", LANECRYPT, "enc", *RAW, "-out", out], input=b"x", capture_output=True,
                              env=environment("none"), timeout=60)
        if b"unshare" in done.stderr:
            pytest.skip("no namespace may be made here")
        assert done.returncode == FAILED and b"no number in this namespace" in done.stderr, done
        assert out.read_bytes() == b"old"


# ---- Paths that name a descriptor -------------------------------------------


def through(descriptor, path="/dev/fd/{}", *words, text=PLAIN, **options):
    return lanecrypt("enc", *RAW, "-out", path.format(descriptor), *words, stdin=text, pass_fds=[descriptor], **options)


@pytest.fixture(params=["file", "unlinked", "memfd"])
def descriptor(request, tmp_path):
    """A descriptor for reading and writing. seen() returns the content of its file."""
    if request.param == "memfd":
        number = os.memfd_create("out")
    else:
        number = os.open(tmp_path / "out", os.O_RDWR | os.O_CREAT)
    if request.param == "unlinked":
        (tmp_path / "out").unlink()
    yield number
    os.close(number)


def seen(descriptor):
    return os.pread(descriptor, 1 << 24, 0)


@pytest.mark.parametrize("path", ["/dev/fd/{}", "/proc/self/fd/{}", "/proc/thread-self/fd/{}"])
def test_a_descriptor_is_written(descriptor, path, tmp_path):
    done = through(descriptor, path)
    assert done.returncode == 0 and seen(descriptor) == sealed(), done
    assert os.listdir(tmp_path) in ([], ["out"])


def test_a_link_to_a_descriptor(descriptor, tmp_path):
    (tmp_path / "first").symlink_to(tmp_path / "second")
    (tmp_path / "second").symlink_to(f"/dev/fd/{descriptor}")
    done = through(descriptor, str(tmp_path / "first"))
    assert done.returncode == 0 and seen(descriptor) == sealed(), done
    assert (tmp_path / "first").is_symlink() and (tmp_path / "second").is_symlink()


def test_a_descriptor_of_another_process(descriptor):
    done = lanecrypt("enc", *RAW, "-out", f"/proc/{os.getpid()}/fd/{descriptor}", stdin=PLAIN)
    assert done.returncode == 0 and seen(descriptor) == sealed(), done


def test_a_descriptor_is_written_from_its_position_on(descriptor):
    """What precedes the position stays. The file ends where the output does."""
    os.write(descriptor, b"header" + bytes(100_000))
    os.lseek(descriptor, 6, os.SEEK_SET)
    assert through(descriptor).returncode == 0
    assert seen(descriptor) == b"header" + sealed()
    assert os.lseek(descriptor, 0, os.SEEK_CUR) == 6 + len(PLAIN)
    assert through(descriptor).returncode == 0
    assert seen(descriptor) == b"header" + 2 * sealed()


def test_a_descriptor_that_appends(descriptor):
    os.write(descriptor, b"header")
    os.lseek(descriptor, 0, os.SEEK_SET)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
    assert through(descriptor).returncode == 0 and seen(descriptor) == b"header" + sealed()


def test_a_descriptor_keeps_its_file(tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"old")
    os.link(out, tmp_path / "linked")
    out.chmod(0o600)
    descriptor = os.open(out, os.O_WRONLY)
    (tmp_path / "out").unlink()
    out.write_bytes(b"another")
    assert through(descriptor).returncode == 0
    assert (tmp_path / "linked").read_bytes() == sealed() and out.read_bytes() == b"another"
    os.close(descriptor)


@pytest.mark.parametrize("path", ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1", "-"])
def test_standard_output_by_its_names(tmp_path, path):
    out = tmp_path / "out"
    with out.open("wb") as target:
        target.write(b"header")
        target.flush()
        done = ok("enc", *RAW, "-out", path, "--json", stdin=PLAIN, stdout=target)
    assert out.read_bytes() == b"header" + sealed() and b'"bytes"' in done.stderr
    with out.open("ab") as target:
        ok("enc", *RAW, "-out", path, stdin=PLAIN, stdout=target)
    assert out.read_bytes() == b"header" + 2 * sealed()
    assert ok("enc", *RAW, "-out", path, stdin=PLAIN).stdout == sealed()


@pytest.mark.parametrize("blocking", [True, False])
def test_pipes_and_sockets(blocking):
    text = data(1 << 20)
    for near, far in (os.pipe()[::-1], [end.detach() for end in socket.socketpair()]):
        os.set_blocking(near, blocking)
        got = []

        def read(end=far):
            while part := os.read(end, 65536):
                got.append(part)

        reader = threading.Thread(target=read)
        reader.start()
        done = through(near, text=text)
        os.close(near)
        reader.join()
        os.close(far)
        assert done.returncode == 0 and b"".join(got) == sealed(text), done


def test_keys_through_a_descriptor(descriptor):
    """The caller opened the descriptor, and no name that others could change leads to it."""
    done = lanecrypt("genrsa", "-out", f"/dev/fd/{descriptor}", "1024", pass_fds=[descriptor])
    assert done.returncode == 0 and openssl("pkey", stdin=seen(descriptor)).stdout == seen(descriptor)


def test_another_users_link_to_a_descriptor_gets_no_key(descriptor, tmp_path):
    (tmp_path / "link").symlink_to(f"/dev/fd/{descriptor}")
    if os.geteuid() == 0:
        os.lchown(tmp_path / "link", ALICE, STAFF)
    done = lanecrypt("genrsa", "-out", tmp_path / "link", "1024", pass_fds=[descriptor])
    assert done.returncode == FAILED and b"is a symbolic link" in done.stderr and seen(descriptor) == b""


def test_descriptors_that_cannot_be_written(tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(PLAIN)
    with plain.open("rb") as file:
        done = through(file.fileno())
    assert done.returncode == FAILED and b"for writing: Bad file descriptor" in done.stderr
    assert plain.read_bytes() == PLAIN
    # The descriptors are not ones that the command has opened itself.
    for number in range(3, 16):
        done = lanecrypt("enc", *RAW, "-in", plain, "-out", f"/dev/fd/{number}")
        assert done.returncode == FAILED and plain.read_bytes() == PLAIN, number
        assert b"Bad file descriptor" in done.stderr or b"No such file" in done.stderr
    with plain.open("rb+") as file:
        done = through(file.fileno(), "/dev/fd/{}", "-in", plain)
        assert done.returncode == USAGE and b"is the input too" in done.stderr
        done = through(file.fileno(), "/dev/fd/{}", "-in", f"/dev/fd/{file.fileno()}")
        assert done.returncode == USAGE and b"is the input too" in done.stderr
    assert plain.read_bytes() == PLAIN


def test_a_full_disk_under_a_descriptor(tmp_path):
    mount = tmp_path / "mount"
    mount.mkdir()
    script = f"""
        mount -t tmpfs -o size=64k none "$2" || exit 99
        head -c 1000000 /dev/zero | "$1" enc {" ".join(RAW)} -out /dev/fd/3 3> "$2/out"; echo "code $?"
    """
    done = in_namespace(script, LANECRYPT, mount)
    assert done.stdout == b"code 1\n" and b"cannot write '/dev/fd/3': No space left on device" in done.stderr
