# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt hash --check` compared with sha256sum: the same standard output and the same
success for lists of every form. Also files that are lost while they are hashed."""

import hashlib
import itertools
import os
import random
import subprocess

import pytest

from cli_fixtures import FAILED, LANECRYPT, USAGE, data, environment, fails, lanecrypt, ok
from test_cli_errors import in_namespace
from test_cli_hash import as_newer_ones_print, checked_by_sha256sum, line, reference

CHECK = ("hash", "-sha256", "--check")


@pytest.fixture
def files(tmp_path):
    for name in ("one", "two", " blank", "*star", "a b ", "(x) = y", "new\nline", "#", "x)", "SHA256 (one) = "):
        (tmp_path / name).write_bytes(name.encode())
    return tmp_path


def digest(name):
    return reference("sha256", name.encode())


def theirs(lists, options, folder, stdin=b""):
    return subprocess.run(["sha256sum", "--check", *options, *lists], input=stdin, capture_output=True, cwd=folder,
                          env=environment(None), timeout=60)


def alike(folder, lists, *options, stdin=b""):
    """Checks lists with both programs. Returns the finished process of the command."""
    names = []
    for number, text in enumerate(lists):
        names.append(f"list{number}")
        (folder / names[-1]).write_bytes(text)
    expected = theirs(names, options, folder, stdin)
    done = lanecrypt(*CHECK, *options, *names, cwd=folder, stdin=stdin, devices="none")
    assert (done.returncode, done.stdout) == (
        expected.returncode, as_newer_ones_print(expected.stdout)), (lists, options, done, expected)
    return done


D1, D2 = digest("one"), digest("two")
WRONG = "0" * 64
LINES = {
    "usual": f"{D1}  one",
    "binary": f"{D1} *one",
    "upper case": f"{D1.upper()}  one",
    "one blank": f"{D1} one",
    "one blank and a letter": f"{digest('#')} #",
    "a tab": f"{D1}\tone",
    "tab and blank": f"{D1}\t one",
    "tab and asterisk": f"{D1}\t*one",
    "two tabs": f"{D1}\t\tone",
    "leading blanks": f"  {D1}  one",
    "leading tab": f"\t{D1}  one",
    "leading mix": f" \t {D1} *one",
    "trailing blank": f"{digest('a b ')}  a b ",
    "name with a blank before": f"{digest(' blank')}   blank",
    "name with an asterisk": f"{digest('*star')}  *star",
    "reversed asterisk": f"{digest('*star')} *star",
    "tag": f"SHA256 (one) = {D1}",
    "tag without blanks": f"SHA256(one)={D1}",
    "tag of openssl": f"SHA256(one)= {D1}",
    "tag with tabs": f"SHA256 (one)\t=\t{D1}",
    "tag with leading blanks": f"   SHA256 (one) = {D1}",
    "tag in capitals": f"SHA256 (one) = {D1.upper()}",
    "tag with parentheses": f"SHA256 ((x) = y) = {digest('(x) = y')}",
    "tag with one parenthesis": f"SHA256 (x)) = {digest('x)')}",
    "tag and blank behind": f"SHA256 (one) = {D1} ",
    "tag of two blanks": f"SHA256  (one) = {D1}",
    "tag of tab": f"SHA256\t(one) = {D1}",
    "tag without name": f"SHA256 () = {D1}",
    "tag without end": f"SHA256 (one = {D1}",
    "tag without equals": f"SHA256 (one) {D1}",
    "tag without digest": "SHA256 (one) = ",
    "tag of another": f"SHA512 (one) = {D1}",
    "tag in lower case": f"sha256 (one) = {D1}",
    "tag alone": "SHA256",
    "tag of openssl 3": f"SHA2-256(one)= {D1}",
    "escaped tag": f"\\SHA256 (new\\nline) = {digest('new' + chr(10) + 'line')}",
    "escaped": f"\\{digest('new' + chr(10) + 'line')}  new\\nline",
    "escaped after blanks": f" \\{digest('new' + chr(10) + 'line')}  new\\nline",
    "escaped wrongly": f"\\{D1}  one\\q",
    "escaped at the end": f"\\{D1}  one\\",
    "escaped twice": f"\\\\{D1}  one",
    "escaped without need": f"\\{D1}  one",
    "wrong": f"{WRONG}  one",
    "wrong tag": f"SHA256 (one) = {WRONG}",
    "missing": f"{D1}  nothing",
    "a folder": f"{D1}  .",
    "no name": f"{D1}  ",
    "no name and one blank": f"{D1} ",
    "digest alone": D1,
    "too long": f"{D1}0  one",
    "too short": f"{D1[1:]}  one",
    "no digits": f"{'g' * 64}  one",
    "another separator": f"{D1}-one",
    "nonsense": "nonsense",
    "note": "# a note",
    "note after a blank": " # a note",
    "empty": "",
    "blank": " ",
    "carriage return": f"{D1}  one\r",
    "only a carriage return": "\r",
    "two carriage returns": f"{D2}  two\r\r",
    "standard input": f"{hashlib.sha256(b'in').hexdigest()}  -",
    "not UTF-8": f"{D1}  \udcff",
}


def text(*lines, end="\n"):
    return "".join(one + end for one in lines).encode(errors="surrogateescape")


@pytest.mark.parametrize("name", LINES)
def test_a_line(files, name):
    alike(files, [text(LINES[name])], stdin=b"in")
    # Before and after one line of each form, and at the end without a newline.
    for other in ("usual", "one blank", "tag"):
        alike(files, [text(LINES[name], LINES[other])], stdin=b"in")
        alike(files, [text(LINES[other]) + LINES[name].encode(errors="surrogateescape")], stdin=b"in")


OPTIONS = [(), ("--quiet",), ("--status",), ("--warn",), ("-w",), ("--strict",), ("--ignore-missing",),
           ("--strict", "--quiet"), ("--ignore-missing", "--quiet"), ("--ignore-missing", "--status"),
           ("--strict", "--ignore-missing"), ("--quiet", "--status"), ("--status", "--quiet"), ("--status", "--warn"),
           ("--quiet", "-w"), ("--warn", "--status")]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_options(files, options):
    for names in [("usual",), ("usual", "wrong"), ("usual", "missing"), ("missing",), ("usual", "nonsense"),
                  ("nonsense",), ("usual", "a folder"), ("wrong", "missing", "nonsense", "usual", "tag"), ("empty",),
                  ("missing", "wrong"), ("note",)]:
        alike(files, [text(*(LINES[name] for name in names))], *options)


def test_lists_of_random_lines(files):
    chance = random.Random(1)
    for _ in range(60):
        lists = [text(*(LINES[chance.choice(list(LINES))] for _ in range(chance.randrange(1, 6))),
                      end=chance.choice(["\n", "\n", "\r\n"])) for _ in range(chance.randrange(1, 4))]
        alike(files, lists, *chance.choice(OPTIONS), stdin=b"in")


def test_several_lists(files):
    good, bad = text(LINES["usual"]), text(LINES["wrong"])
    for lists in itertools.product([good, bad, b"", b"nonsense\n"], repeat=2):
        alike(files, lists)
    # A missing list between others.
    done = lanecrypt(*CHECK, "list0", "nothing", "list1", cwd=files)
    assert done.returncode == FAILED and b"cannot open 'nothing' for reading" in done.stderr
    expected = theirs(["list0", "nothing", "list1"], (), files)
    assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout)
    # The form of the first list applies to the next one too.
    alike(files, [text(LINES["one blank"]), text(LINES["name with a blank before"], LINES["usual"])])


def test_status_says_nothing(files):
    for name, code in (("usual", 0), ("wrong", FAILED), ("nonsense", FAILED)):
        (files / "list").write_bytes(text(LINES["usual"], LINES[name]))
        done = lanecrypt(*CHECK, "--status", *(("--strict",) if name == "nonsense" else ()), "list", cwd=files)
        assert (done.returncode, done.stdout, done.stderr) == (code, b"", b""), name


def test_the_list_on_standard_input_is_no_file_of_it(files):
    sums = text(LINES["usual"], LINES["standard input"])
    done = lanecrypt(*CHECK, stdin=sums, cwd=files)
    expected = theirs([], (), files, sums)
    assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout)
    assert done.stdout == b"one: OK\n" and b"line 2" in done.stderr


@pytest.mark.parametrize("options", [("--tag",), ("-z",), ("--zero",), ("--tag", "-z")], ids=" ".join)
def test_forms_of_output(files, options):
    (files / "back\\slash").touch()
    (files / "[a,b]").touch()
    (files / "carriage\rreturn").touch()
    names = sorted(path.name for path in files.iterdir())
    done = ok("hash", "-sha256", *options, "--", *names, cwd=files)
    assert done.stdout == subprocess.run(["sha256sum", *options, "--", *names], capture_output=True, check=True,
                                         cwd=files).stdout
    if options != ("--tag",):
        return
    (files / "sums").write_bytes(done.stdout)
    done = ok(*CHECK, "sums", cwd=files)
    assert done.stdout == checked_by_sha256sum((files / "sums").read_bytes(), files)


@pytest.mark.parametrize("words, tag", [
    (("-sha224",), "SHA224"), (("-sha512",), "SHA512"), (("-sha3-256",), "SHA3-256"), (("-shake128",), "SHAKE128"),
    (("-blake3",), "BLAKE3"), (("-blake3", "--length", "64"), "BLAKE3"),
    (("-merkle-sha256", "-leaf-bytes", "7"), "MERKLE-SHA256"),
    (("-parallelhash128", "-leaf-bytes", "8"), "PARALLELHASH128")])
def test_each_hash_has_a_tag(files, words, tag):
    """As b3sum --tag and others write it."""
    plain = ok("hash", *words, "one", cwd=files).stdout.decode().split()[0]
    sums = ok("hash", *words, "--tag", "one", cwd=files).stdout
    assert sums.decode() == f"{tag} (one) = {plain}\n"
    for text_ in (sums, f"{plain}  one\n".encode(), f"  {plain} one\n".encode()):
        assert ok("hash", *words, "--check", stdin=text_, cwd=files).stdout == b"one: OK\n"
    assert lanecrypt("hash", *words, "--check", stdin=f"{tag} (one) = {'0' * len(plain)}\n".encode(),
                     cwd=files).returncode == FAILED


def test_names_are_printed_as_given(tmp_path):
    for name in ("[a,b]", "[", "[]", "{}", "%%"):
        (tmp_path / name).write_bytes(b"x")
        for written in (name, "./" + name, "././" + name):
            expected = line(reference("sha256", b"x"), written)
            assert ok("hash", "-sha256", written, cwd=tmp_path).stdout.decode() == expected
            assert ok("hash", "-sha256", "--", written, cwd=tmp_path).stdout.decode() == expected
            assert ok(*CHECK, stdin=expected.encode(), cwd=tmp_path).stdout.decode() == f"{written}: OK\n"
    (tmp_path / "[l,m]").write_text(line(reference("sha256", b"x"), "["))
    assert ok(*CHECK, "[l,m]", cwd=tmp_path).stdout == b"[: OK\n"
    assert b"cannot open '[no]'" in lanecrypt("hash", "-sha256", "[no]", cwd=tmp_path).stderr


@pytest.mark.parametrize("words", [("--tag", "--check"), ("-z", "--check"), ("--status",), ("--quiet",), ("-w",)])
def test_options_that_do_not_fit(words):
    fails(USAGE, "", "hash", "-sha256", *words)


# ---- Files that are lost meanwhile ------------------------------------------


def while_it_reads(folder, change, *words, names, devices="none"):
    """Runs `change` when all files before the last, a pipe, are mapped."""
    with subprocess.Popen([LANECRYPT, *map(str, words), *names, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=folder, env=environment(devices)) as process:
        # More than a pipe holds.
        process.stdin.write(bytes(4 << 20))
        process.stdin.flush()
        change()
        out, said = process.communicate(timeout=120)
    return process.returncode, out.decode(), said.decode()


@pytest.mark.parametrize("devices", ["none", "host"])
@pytest.mark.parametrize("hashed", ["sha256", "blake3"])
def test_files_that_become_shorter(tmp_path, hashed, devices):
    """Each is named, and all the others are reported."""
    names = [f"file{number:03}" for number in range(100)]
    for name in names:
        (tmp_path / name).write_bytes(name.encode() * 40_000)
    lost = {"file007": 0, "file050": 4096, "file099": 200_000}
    words = ("hash", f"-{hashed}", *(("--require-gpu",) if devices == "host" else ()))
    expected = ok("hash", f"-{hashed}", *names, "-", cwd=tmp_path, stdin=bytes(4 << 20), devices="none").stdout

    def change():
        for name, length in lost.items():
            os.truncate(tmp_path / name, length)
        (tmp_path / "file020").unlink()  # the open file stays
    code, out, said = while_it_reads(tmp_path, change, *words, names=names, devices=devices)
    assert code == FAILED
    assert out.splitlines() == [one for one in expected.decode().splitlines() if one.split()[1] not in lost]
    assert said.splitlines() == [f"lanecrypt: '{name}' became shorter while it was being read" for name in lost] + [
        "lanecrypt: 3 of 101 files could not be read"]


def test_files_of_a_list_that_become_shorter(tmp_path):
    names = [f"file{number:03}" for number in range(100)]
    for name in names:
        (tmp_path / name).write_bytes(name.encode() * 40_000)
    (tmp_path / "sums").write_bytes(
        ok("hash", "-sha256", *names, "-", cwd=tmp_path, stdin=bytes(4 << 20), devices="none").stdout)

    def change():
        os.truncate(tmp_path / "file007", 1000)
    with subprocess.Popen([LANECRYPT, *CHECK, "sums"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=tmp_path, env=environment("none")) as process:
        process.stdin.write(bytes(4 << 20))
        process.stdin.flush()
        change()
        out, said = process.communicate(timeout=120)
    assert process.returncode == FAILED
    assert out.decode().splitlines() == [
        f"{name}: {'FAILED open or read' if name == 'file007' else 'OK'}" for name in [*names, "-"]]
    assert said.decode().splitlines() == ["lanecrypt: 'file007' became shorter while it was being read",
                                          "lanecrypt: digests: 100 right, 0 wrong; files that could not be read: 1"]


def test_one_that_was_renamed_and_became_shorter(tmp_path):
    (tmp_path / "log").write_bytes(data(1 << 20))

    def change():
        (tmp_path / "log").rename(tmp_path / "log.1")
        os.truncate(tmp_path / "log.1", 0)
        (tmp_path / "log").write_bytes(b"new")
    code, out, said = while_it_reads(tmp_path, change, "hash", "-sha256", names=["log"])
    assert code == FAILED and out.endswith("  -\n") and out.count("\n") == 1
    assert "'log' became shorter or unreadable while it was being read" in said


def test_a_disk_that_fails(tmp_path):
    """Read errors, with mapped files and others, are reported as errors of the disk and not as
    shorter files."""
    image, mount = tmp_path / "image", tmp_path / "mount"
    mount.mkdir()
    script = """
        truncate -s 32M "$2" && mkfs.ext4 -q -O ^has_journal "$2" && mount -o loop "$2" "$3" || exit 99
        head -c 20000000 /dev/urandom > "$3/mapped"; echo good > "$3/good"; umount "$3" || exit 99
        mount -o loop,ro "$2" "$3" || exit 99
        cat "$3/good" > /dev/null; truncate -s 12M "$2"
        cd "$3"; LANECRYPT_DEVICES=none "$1" hash -sha256 mapped good; echo "code $?"
    """
    done = in_namespace(script, LANECRYPT, image, mount)
    if done.returncode == 99:
        pytest.skip("no file system may be made here")
    assert done.stdout.decode() == line(reference("sha256", b"good\n"), "good") + "code 1\n", done
    assert b"cannot read 'mapped': Input/output error" in done.stderr, done
    assert b"shorter" not in done.stderr


def test_a_message_that_becomes_shorter_is_not_signed(tmp_path):
    for name in ("first", "key.pem"):
        (tmp_path / name).write_bytes(data(1 << 20))
    ok("slh-dsa", "keygen", "--out", "key.pem", "SHA2-128f", cwd=tmp_path, devices="none")
    os.mkfifo(tmp_path / "second")
    with subprocess.Popen([LANECRYPT, "slh-dsa", "sign", "--key", "key.pem", "first", "second"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=tmp_path, env=environment("none")) as process:
        with open(tmp_path / "second", "wb") as pipe:
            pipe.write(b"x")
            os.truncate(tmp_path / "first", 10)
        out, said = process.communicate(timeout=120)
    assert process.returncode == FAILED and b"'first' became shorter while it was being read" in said, said
    assert not (tmp_path / "first.sig").exists()
