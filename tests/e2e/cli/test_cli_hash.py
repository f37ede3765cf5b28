# SPDX-License-Identifier: Apache-2.0
"""`lanecrypt hash`: digests equal to those of hashlib, sha256sum and openssl, BLAKE3's own
answers, and lists that sha256sum and the command check alike."""

import hashlib
import os
import subprocess

import pytest

from cli_fixtures import (FAILED, LANECRYPT, NO_DEVICE, USAGE, data, environment, fails, lanecrypt, ok,
                          openssl)

NAMED = ["sha224", "sha256", "sha384", "sha512", "sha3-224", "sha3-256", "sha3-384", "sha3-512"]

# The first 48 bytes of the answers of BLAKE3's test vectors, whose input is 0, 1, ... 250, 0, ...:
# of hash, keyed_hash and derive_key.
BLAKE3_KEY = b"whats the Elvish word for friend"
BLAKE3_CONTEXT = "BLAKE3 2019-12-27 16:29:52 test vectors context"
BLAKE3_ANSWERS = {
    0: (
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262e00f03e7b69af26b7faaf09fcd333050",
        "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26b18171a2f22a4b94822c701f107153db",
        "2cc39783c223154fea8dfb7c1b1660f2ac2dcbd1c1de8277b0b0dd39b7e50d7d905630c8be290dfcf3e6842f13bddd57",
    ),
    1: (
        "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213c3a6cb8bf623e20cdb535f8d1a5ffb86",
        "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b6568c0490609413006fbd428eb3fd14e",
        "b3e2e340a117a499c6cf2398a19ee0d29cca2bb7404c73063382693bf66cb06c5827b91bf889b6b97c5477f535361cae",
    ),
    1023: (
        "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11a182d27a591b05592b15607500e1e8dd",
        "c951ecdf03288d0fcc96ee3413563d8a6d3589547f2c2fb36d9786470f1b9d6e890316d2e6d8b8c25b0a5b2180f94fb1",
        "74a16c1c3d44368a86e1ca6df64be6a2f64cce8f09220787450722d85725dea59c413264404661e9e4d955409dfe4ad3",
    ),
    1024: (
        "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af71cf8107265ecdaf8505b95d8fcec83a9",
        "75c46f6f3d9eb4f55ecaaee480db732e6c2105546f1e675003687c31719c7ba4a78bc838c72852d4f49c864acb7adafe",
        "7356cd7720d5b66b6d0697eb3177d9f8d73a4a5c5e968896eb6a6896843027066c23b601d3ddfb391e90d5c8eccdef4a",
    ),
    1025: (
        "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444f4c4a22b4b399155358a994e52bf255d",
        "357dc55de0c7e382c900fd6e320acc04146be01db6a8ce7210b7189bd664ea69362396b77fdc0d2634a5529708437220",
        "effaa245f065fbf82ac186839a249707c3bddf6d3fdda22d1b95a3c970379bcb5d31013a167509e9066273ab6e2123bc",
    ),
    2049: (
        "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b687952256303096de31d71d74103403822a2e0bc1eb19",
        "9f29700902f7c86e514ddc4df1e3049f258b2472b6dd5267f61bf13983b78dd5f9a88abfefdfa1e00b418971f2b39c64",
        "2ea477c5515cc3dd606512ee72bb3e0e758cfae7232826f35fb98ca1bcbdf27316d8e9e79081a80b046b60f6a263616f",
    ),
    31744: (
        "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47860cc51f2b0c28a7b77304bd55fe73af",
        "efa53b389ab67c593dba624d898d0f7353ab99e4ac9d42302ee64cbf9939a4193a7258db2d9cd32a7a3ecfce46144114",
        "39772aef80e0ebe60596361e45b061e8f417429d529171b6764468c22928e28e9759adeb797a3fbf771b1bcea30150a0",
    ),
    102400: (
        "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085e01c59dab908c04c3342b816941a26d6",
        "1c35d1a5811083fd7119f5d5d1ba027b4d01c0c6c49fb6ff2cf75393ea5db4a7f9dbdd3e1d81dcbca3ba241bb18760f2",
        "4652cff7a3f385a6103b5c260fc1593e13c778dbe608efb092fe7ee69df6e9c6d83a3e041bc3a48df2879f4a0a3ed40e",
    ),
}


def reference(name, text):
    return hashlib.new(name.replace("sha3-", "sha3_"), text).hexdigest()


def line(digest, name):
    return f"{digest}  {name}\n"


@pytest.fixture
def files(tmp_path):
    """Files of many lengths, some of which are read and some mapped."""
    lengths = {"empty": 0, "one": 1, "block": 64, "page": 4096, "just-read": (128 << 10) - 1,
               "mapped": 128 << 10, "longer": (1 << 20) + 17, "with blank": 5}
    for name, length in lengths.items():
        (tmp_path / name).write_bytes(data(length))
    return tmp_path


@pytest.mark.parametrize("devices", ["host", "none"])
@pytest.mark.parametrize("name", NAMED)
def test_equals_hashlib(files, name, devices):
    paths = sorted(files.iterdir())
    said = ok("hash", f"-{name}", *paths, devices=devices).stdout.decode()
    assert said == "".join(line(reference(name, path.read_bytes()), path) for path in paths)


def test_a_device_does_it(files):
    done = ok("hash", "-sha256", "--require-gpu", "-v", *sorted(files.iterdir()))
    assert b", on host:0" in done.stderr and b"CPU)" not in done.stderr.replace(b"of CPU time)", b"")
    fails(NO_DEVICE, "no usable device", "hash", "-sha256", "--require-gpu", files / "one", devices="none")


@pytest.mark.parametrize("name", ["sha3_224", "sha3_256", "sha3_384", "sha3_512", "shake_128", "shake_256"])
def test_names_of_hashlib(name):
    own = name.replace("sha3_", "sha3-").replace("shake_", "shake")
    expected = ok("hash", f"-{own}", stdin=b"abc").stdout
    for dashes in ("-", "--"):
        assert ok("hash", f"{dashes}{name}", stdin=b"abc").stdout == expected


@pytest.mark.parametrize("name, length", [("shake128", 1), ("shake128", 168), ("shake256", 500)])
def test_shake_has_any_length(name, length):
    expected = hashlib.new(name.replace("shake", "shake_"), b"abc").hexdigest(length)
    assert ok("hash", f"-{name}", "--length", length, stdin=b"abc").stdout.decode() == line(expected, "-")


def test_shakes_own_lengths():
    said = ok("hash", "-shake256", stdin=b"abc").stdout.decode()
    assert said == line(hashlib.shake_256(b"abc").hexdigest(64), "-")


def test_equals_openssl_and_sha256sum(files):
    for name in ("sha512", "sha3-256"):
        assert ok("hash", f"-{name}", files / "longer").stdout.split()[0] == openssl(
            "dgst", "-r", f"-{name}", files / "longer").stdout.split()[0]
    paths = sorted(files.iterdir())
    done = subprocess.run(["sha256sum", *paths], capture_output=True, check=True)
    assert ok("hash", "-sha256", *paths).stdout == done.stdout


def as_newer_ones_print(said):
    """Converts the output of an older sha256sum --check, which escapes a name only if it
    contains a newline, to that of a newer one."""
    def escaped(line):
        if line.startswith(b"\\") or not (b"\\" in line or b"\r" in line):
            return line
        return b"\\" + line.replace(b"\\", b"\\\\").replace(b"\r", b"\\r")

    return b"\n".join(escaped(line) for line in said.split(b"\n"))


def checked_by_sha256sum(sums, folder):
    """Returns what sha256sum --check prints."""
    done = subprocess.run(["sha256sum", "--check"], input=sums, capture_output=True, cwd=folder, env=environment())
    return as_newer_ones_print(done.stdout)


@pytest.mark.parametrize("name", ["back\\slash", "new\nline", "carriage\rreturn", " blank", "*star"])
def test_strange_names_are_written_and_checked_as_sha256sum_does(tmp_path, name):
    (tmp_path / name).write_bytes(b"x")
    ours = ok("hash", "-sha256", name, cwd=tmp_path).stdout
    theirs = subprocess.run(["sha256sum", name], capture_output=True, check=True, cwd=tmp_path).stdout
    assert ours == theirs
    (tmp_path / "sums").write_bytes(ours)
    assert ok("hash", "-sha256", "--check", "sums", cwd=tmp_path).stdout == checked_by_sha256sum(ours, tmp_path)


def test_names_send_no_command_to_the_terminal(tmp_path):
    names = ["\033[2Jx", "new\nline", "carriage\rreturn", "\u009b2J", "caf\u00e9", "back\\slash"]
    lists = []
    for name in names:
        (tmp_path / name).write_bytes(b"x")
        lists.append(ok("hash", "-sha256", name, cwd=tmp_path).stdout)
        (tmp_path / name).unlink()
    done = fails(FAILED, "files that could not be read: 6", "hash", "-sha256", "--check",
                 stdin=b"".join(lists), cwd=tmp_path)
    assert done.stderr.decode().splitlines()[:-1] == [
        f"lanecrypt: cannot open '{shown}' for reading: No such file or directory"
        for shown in (r"\033[2Jx", r"new\nline", r"carriage\rreturn", r"\302\2332J", "caf\u00e9",
                      r"back\slash")]
    # Programs read standard output, which has the names themselves.
    assert done.stdout == checked_by_sha256sum(b"".join(lists), tmp_path)
    fails(FAILED, r"'\033\377'", "hash", "-sha256", "--check", b"\033\377".decode(errors="surrogateescape"))


def test_names_that_look_like_options(tmp_path):
    (tmp_path / "-sha256").write_bytes(b"x")
    said = ok("hash", "-sha256", "--", "-sha256", cwd=tmp_path).stdout.decode()
    assert said == line(reference("sha256", b"x"), "-sha256")
    # A name that the argument parser would take for a list.
    (tmp_path / "[a,b]").write_bytes(b"x")
    said = ok("hash", "-sha256", "[a,b]", cwd=tmp_path).stdout.decode()
    assert said == line(reference("sha256", b"x"), "[a,b]")


def test_streams(tmp_path):
    text = data(5_000_000)
    assert ok("hash", "-sha384", stdin=text).stdout.decode() == line(reference("sha384", text), "-")
    # A file as standard input, part of which was read already, and a file of /proc.
    (tmp_path / "file").write_bytes(text)
    with open(tmp_path / "file", "rb") as file:
        os.lseek(file.fileno(), 1234, os.SEEK_SET)
        said = ok("hash", "-sha256", "-", stdin=file).stdout.decode()
        assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == len(text)
    assert said == line(reference("sha256", text[1234:]), "-")
    with open("/proc/version", "rb") as file:
        version = file.read()
    assert ok("hash", "-sha256", "/proc/version").stdout.decode() == line(
        reference("sha256", version), "/proc/version")


def test_more_files_than_a_batch_has(tmp_path):
    count = 17000
    for number in range(count):
        (tmp_path / f"{number:05}").write_bytes(b"%d" % number)
    names = sorted(path.name for path in tmp_path.iterdir())
    said = ok("hash", "-sha256", *names, cwd=tmp_path).stdout.decode()
    assert said == "".join(line(reference("sha256", b"%d" % number), f"{number:05}") for number in range(count))


def blake3_input(length):
    return bytes(n % 251 for n in range(length))


@pytest.mark.parametrize("devices", ["host", "none"])
@pytest.mark.parametrize("length", sorted(BLAKE3_ANSWERS))
def test_blake3_gives_its_test_vectors(tmp_path, length, devices):
    (tmp_path / "in").write_bytes(blake3_input(length))
    (tmp_path / "key").write_text(BLAKE3_KEY.hex() + "\n")
    ways = [(), ("-key-source", f"file:{tmp_path / 'key'}"), ("-derive-key", BLAKE3_CONTEXT)]
    forced = ("--require-gpu",) if devices == "host" else ()
    for words, answer in zip(ways, BLAKE3_ANSWERS[length]):
        # The vectors are longer than 32 bytes. A shorter digest is the beginning of a longer one.
        bytes_ = len(answer) // 2
        said = ok("hash", "-blake3", "--length", bytes_, *words, *forced, tmp_path / "in", devices=devices)
        assert said.stdout.decode() == line(answer, tmp_path / "in"), words
        said = ok("hash", "-blake3", *words, *forced, tmp_path / "in", devices=devices)
        assert said.stdout.decode() == line(answer[:64], tmp_path / "in"), words


def merkle_root(leaves):
    """RFC 9162, section 2.1.1."""
    if len(leaves) == 0:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + merkle_root(leaves[:half]) + merkle_root(leaves[half:])).digest()


@pytest.mark.parametrize("length, leaf", [(0, 7), (7, 7), (8, 7), (100_000, 1000), (1 << 20, 333)])
def test_merkle_trees(tmp_path, length, leaf):
    text = data(length)
    (tmp_path / "in").write_bytes(text)
    expected = merkle_root([text[at:at + leaf] for at in range(0, length, leaf)]).hex()
    for words in ((), ("--require-gpu",)):
        said = ok("hash", "-merkle-sha256", "-leaf-bytes", leaf, *words, tmp_path / "in").stdout.decode()
        assert said == line(expected, tmp_path / "in")


def test_parallel_hash():
    """The first and second samples that NIST publishes with SP 800-185."""
    text = bytes.fromhex("000102030405060710111213141516172021222324252627")
    assert ok("hash", "-parallelhash128", "-leaf-bytes", 8, stdin=text).stdout.split()[0].decode() == (
        "ba8dc1d1d979331d3f813603c67f72609ab5e44b94a0b8f9af46514454a2b4f5")
    assert ok("hash", "-parallelhash128", "-leaf-bytes", 8, "-customization", "Parallel Data",
              stdin=text).stdout.split()[0].decode() == (
        "fc484dcb3f84dceedc353438151bee58157d6efed0445a81f165e495795b7206")


def test_a_list_is_checked(files):
    names = sorted(path.name for path in files.iterdir())
    sums = ok("hash", "-sha256", *names, cwd=files).stdout
    (files / "sums").write_bytes(sums)
    subprocess.run(["sha256sum", "--check", "--quiet", "sums"], check=True, cwd=files)
    words = ("hash", "-sha256", "--check")
    said = ok(*words, "sums", cwd=files).stdout.decode()
    assert said == "".join(f"{name}: OK\n" for name in names)
    assert ok(*words, stdin=sums, cwd=files).stdout.decode() == said
    assert ok(*words, "--quiet", "sums", cwd=files).stdout == b""

    (files / "page").write_bytes(b"another")
    done = fails(FAILED, f"digests: {len(names) - 1} right, 1 wrong", *words, "sums", cwd=files)
    assert b"page: FAILED\n" in done.stdout and done.stdout.count(b": OK\n") == len(names) - 1
    (files / "page").unlink()
    done = fails(FAILED, "files that could not be read: 1", *words, "sums", cwd=files)
    assert b"page: FAILED open or read\n" in done.stdout
    done = ok(*words, "--ignore-missing", "sums", cwd=files)
    assert b"page" not in done.stdout + done.stderr


def test_lists_of_other_forms(files):
    good = ok("hash", "-sha256", "one", cwd=files).stdout
    words = ("hash", "-sha256", "--check")
    done = ok(*words, stdin=b"# a note\n\nnonsense\n" + good.upper().replace(b"ONE", b"one"), cwd=files)
    assert done.stdout == b"one: OK\n" and b"standard input: line 3 is malformed" in done.stderr
    fails(FAILED, "lines of another form: 1", *words, "--strict", stdin=b"nonsense\n" + good, cwd=files)
    fails(FAILED, "there is no line to check", *words, stdin=b"nonsense\n", cwd=files)
    fails(FAILED, "there is no line to check", "hash", "-sha512", "--check", stdin=good, cwd=files)
    fails(FAILED, "none of its files is there", *words, "--ignore-missing", stdin=good.replace(b"one", b"two"),
          cwd=files)


def test_what_cannot_be_read_is_named_and_the_rest_is_hashed(files):
    done = fails(FAILED, "2 of 3 files could not be read", "hash", "-sha256", "nothing", "one", ".", cwd=files)
    assert done.stdout.decode() == line(reference("sha256", data(1)), "one")
    assert b"cannot open 'nothing' for reading" in done.stderr and b"'.' is a directory" in done.stderr
    fails(FAILED, "cannot open 'nothing' for reading", "hash", "-sha256", "nothing", cwd=files)
    fails(FAILED, "cannot open 'nothing' for reading", "hash", "-sha256", "--check", "nothing", cwd=files)


def test_a_file_that_becomes_shorter(tmp_path):
    """It is named, and the others are hashed. The process waits for a pipe, after it has mapped
    the file."""
    (tmp_path / "file").write_bytes(bytes(1 << 20))
    with subprocess.Popen([LANECRYPT, "hash", "-sha256", tmp_path / "file", "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment("none")) as process:
        # More than a pipe holds: when all of it has been read, the preceding file is mapped.
        process.stdin.write(bytes(4 << 20))
        process.stdin.flush()
        os.truncate(tmp_path / "file", 4096)
        out, said = process.communicate(timeout=60)
    assert process.returncode == FAILED and out.decode() == line(reference("sha256", bytes(4 << 20)), "-")
    assert said.decode() == (f"lanecrypt: '{tmp_path / 'file'}' became shorter while it was being read\n"
                             "lanecrypt: 1 of 2 files could not be read\n")


@pytest.mark.parametrize("words, why", [
    ((), "no hash was given"),
    (("-sha256", "-sha512"), "exclude each other"),
    (("-sha256", "--length", 20), "has no --length"),
    (("-sha256", "-key-source", "env:KEY"), "has no -key-source"),
    (("-sha256", "-leaf-bytes", 64), "has no -leaf-bytes"),
    (("-merkle-sha256", "-customization", "x", "-leaf-bytes", 64), "has no -customization"),
    (("-merkle-sha256",), "needs -leaf-bytes"),
    (("-parallelhash128", "-leaf-bytes", 0), "needs -leaf-bytes"),
    # Version 2.4 or later of the argument parser refuses these two itself, in its own words.
    (("-merkle-sha256", "-leaf-bytes", -1), "-leaf-bytes"),
    (("-merkle-sha256", "-leaf-bytes", 1 << 64), "-leaf-bytes"),
    (("-merkle-sha256", "-leaf-bytes"), "--leaf-bytes needs a value"),
    (("-blake3", "-key-source"), "--key-source needs a value"),
    (("-shake128", "--length", 0), "from 1 to 2^30"),
    (("-shake128", "--length", (1 << 30) + 1), "from 1 to 2^30"),
    (("-blake3", "-derive-key", "x", "-key-source", "env:KEY"), "excludes"),
    (("-blake3", "-key-source", "env:KEY"), "64"),
    (("-sha256", "--strict"), "requires"),
    (("-md5",), "no option and no hash 'md5'; the help lists them (see lanecrypt hash --help)"),
    (("--sha257", "x"), "no option and no hash 'sha257'"),
])
def test_wrong_words(words, why):
    fails(USAGE, why, "hash", *words, env={"KEY": "00" * 31})


def test_the_key_is_not_shown(tmp_path):
    done = lanecrypt("hash", "-blake3", "-key-source", "env:KEY", env={"KEY": "zz" * 32})
    assert done.returncode == USAGE and b"zz" not in done.stderr
