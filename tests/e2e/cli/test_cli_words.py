# SPDX-License-Identifier: Apache-2.0
"""The command's texts: help by every way to ask for it, messages about missing arguments, and
texts that promise no more than is true. Also keys in every form of PEM that RFC 7468 allows a
reader to accept."""

import pathlib
import re

import pytest

from cli_fixtures import BAD_DATA, USAGE, data, fails, lanecrypt, ok, openssl

REPOSITORY = pathlib.Path(__file__).parents[3]
COMMANDS = ["enc", "dec", "hash", "genrsa", "slh-dsa", "run", "service", "devices", "bench", "tune"]
NESTED = [f"slh-dsa {name}" for name in ("keygen", "public", "sign", "verify")]
NESTED += [f"service {name}" for name in ("status", "stats", "metrics")]


@pytest.mark.parametrize("command", COMMANDS + NESTED)
def test_help_of_a_command(command):
    words = command.split()
    expected = ok(*words, "--help").stdout
    assert expected.count(b"\n") > 5 and expected != ok("--help").stdout
    for help_ in ("help", "--help", "-help", "-h"):
        assert ok(help_, *words).stdout == expected
    if len(words) == 2:
        assert ok(words[0], "help", words[1]).stdout == expected
        assert expected != ok(words[0], "--help").stdout


def test_help_of_what_is_no_command():
    usage = ok("--help").stdout
    for words in (["help"], ["-h"], ["help", "help"], ["help", "--help"]):
        assert ok(*words).stdout == usage
    for words in (["help", "nonsense"], ["--help", "nonsense"], ["nonsense"]):
        assert fails(USAGE, "unknown command 'nonsense'", *words).stdout == b""
    fails(USAGE, "unknown word 'nonsense'", "help", "slh-dsa", "nonsense")
    fails(USAGE, "unknown question 'nonsense'", "help", "service", "nonsense")
    # The help does not run the program that is given as an argument.
    assert ok("help", "run", "touch", "/nonexistent/x").stdout == ok("run", "--help").stdout


@pytest.mark.parametrize("words, said", [
    ("slh-dsa keygen", "the argument SET is missing: give the parameter set: "),
    ("slh-dsa public", "the option --key is missing: give the key "),
    ("slh-dsa sign", "the option --key is missing: give the private key "),
    ("slh-dsa sign file", "the option --key is missing: give the private key "),
    ("slh-dsa verify", "the option --key is missing: give the public key, or the private one "),
    ("bench", "the argument WHAT is missing: give what to measure: "),
    ("enc", "no cipher was given"), ("dec", "no cipher was given"), ("hash", "no hash was given"),
    ("genrsa --count 3", "--count requires --out-dir"), ("genrsa --out-dir d", "--out-dir requires --count"),
    ("slh-dsa keygen --count 3 SHA2-128f", "--count requires --out-dir"),
    ("slh-dsa sign --key", "--key needs a value"), ("slh-dsa keygen --out", "--out needs a value"),
    ("enc -aes-128-ctr -in", "--in needs a value"), ("hash -sha256 --devices", "--devices needs a value"),
    ("devices --devices", "--devices needs a value"), ("tune --devices", "--devices needs a value"),
    ("service status --socket", "--socket needs a value"), ("genrsa --bits", "--bits needs a value"),
])
def test_what_is_missing_is_a_sentence(words, said):
    done = fails(USAGE, said, *words.split())
    assert b"is required" not in done.stderr and f"(see lanecrypt {words.split()[0]}".encode() in done.stderr or (
        b"no cipher" in done.stderr or b"no hash" in done.stderr)


def test_a_program_is_missing():
    done = lanecrypt("run")
    assert done.returncode == 125 and b"no program is named (see lanecrypt run --help)" in done.stderr


def test_openssl_speed_measures_elapsed_time():
    """Without the option it divides by the CPU time of a process that waits."""
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.*")]
    texts = {str(page): page.read_text() for page in pages}
    texts["help"] = ok("run", "--help").stdout.decode()
    examples = [(page, line) for page, text in texts.items()
                for line in text.splitlines() if re.search(r"lanecrypt run (-- )?openssl speed", line)]
    assert {"help"} < {page for page, _ in examples}
    for page, line in examples:
        assert "-elapsed" in line.replace("\\", ""), (page, line)
    for page in ("operate.md", "lanecrypt.1"):
        assert re.search(r"processor\s+time of its own process", texts[str(REPOSITORY / "docs" / page)]), page


def test_ctr_detects_no_wrong_passphrase(tmp_path):
    """No text says that it does."""
    sealed = ok("enc", "-aes-256-ctr", "-pbkdf2", "-k", "right", stdin=b"text").stdout
    done = ok("dec", "-aes-256-ctr", "-pbkdf2", "-k", "wrong", stdin=sealed)
    assert done.stdout != b"text" and len(done.stdout) == 4
    told = " ".join(ok("dec", "--help").stdout.decode().split())
    assert "CTR does not detect a wrong passphrase" in told
    for command in ("enc", "dec"):
        codes = " ".join(ok(command, "--help").stdout.decode().split()).partition("Exit codes:")[2]
        assert "3 the input is cut" in codes and "password" not in codes and "passphrase" not in codes
    page = " ".join((REPOSITORY / "docs" / "lanecrypt.1").read_text().split())
    status = page.partition(".SH EXIT STATUS")[2].partition(".SH")[0]
    assert "never in CTR" in status and "Wrong passphrase or key" not in status
    assert "CTR does not detect a wrong passphrase or key" in page


# ---- PEM --------------------------------------------------------------------


def one_line(text):
    """Returns the whole block between the two encapsulation lines, without line ends."""
    return b"".join(text.split(b"\n"))


def regrouped(text, length):
    head, *body, tail = text.strip().split(b"\n")
    body = b"".join(body)
    return b"\n".join([head, *(body[at:at + length] for at in range(0, len(body), length)), tail, b""])


PEM_FORMS = {
    "as written": lambda text: text,
    "blanks at the ends": lambda text: text.replace(b"\n", b"   \n"),
    "tabs at the ends": lambda text: text.replace(b"\n", b"\t \t\n"),
    "blanks at the beginnings": lambda text: b"  " + text.replace(b"\n", b"\n  "),
    "tabs at both": lambda text: b"\t" + text.replace(b"\n", b"\t\n\t"),
    "carriage returns": lambda text: text.replace(b"\n", b"\r\n"),
    "blanks and carriage returns": lambda text: text.replace(b"\n", b" \r\n"),
    "carriage returns alone": lambda text: text.replace(b"\n", b"\r"),
    "empty lines": lambda text: b"\n\n" + text.replace(b"\n", b"\n\n"),
    "lines of blanks": lambda text: text.replace(b"\n", b"\n   \n"),
    "form feeds": lambda text: b"\f" + text.replace(b"\n", b"\v\f\n"),
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "no last newline": lambda text: text.rstrip(b"\n"),
    "blanks within": lambda text: text.replace(b"\nM", b"\nM "),
    "one line": one_line,
    "lines of 76": lambda text: regrouped(text, 76),
    "lines of 5": lambda text: regrouped(text, 5),
    "a long line": lambda text: regrouped(text, 100_000),
    "text around": lambda text: b"Bag Attributes\n  a: b\n" + text + b"and more\n",
    "another block before": lambda text: b"-----BEGIN X-----\nAAAA\n-----END X-----\n" + text,
    "a broken block before": lambda text: b"-----BEGIN PRIVATE KEY-----\nA!\n-----END PRIVATE KEY-----\n" + text,
    "an unfinished block before": lambda text: b"-----BEGIN PUBLIC KEY-----\nAAAA\n" + text,
}
NO_PEM = {
    "no end": lambda text: text.rpartition(b"-----END")[0],
    "another end": lambda text: text.replace(b"END PRIVATE", b"END SECRET").replace(b"END PUBLIC", b"END OTHER"),
    "a letter that is none": lambda text: text.replace(b"\nM", b"\n-M"),
    "padding within": lambda text: text.replace(b"\nM", b"\n=M"),
    "a letter too many": lambda text: text.replace(b"\n-----END", b"A\n-----END"),
    "words before": lambda text: b"x " + text,
    "nothing": lambda text: b"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
    "six dashes": lambda text: b"-" + text,
}


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    ok("slh-dsa", "keygen", "--out", folder / "key.pem", "SHA2-128f", devices="none")
    ok("slh-dsa", "public", "--key", folder / "key.pem", "--out", folder / "public.pem")
    return folder


@pytest.mark.parametrize("form", PEM_FORMS)
def test_keys_in_every_form_of_pem(tmp_path, keys, form):
    expected = (keys / "public.pem").read_bytes()
    for name in ("key.pem", "public.pem"):
        (tmp_path / name).write_bytes(PEM_FORMS[form]((keys / name).read_bytes()))
        assert ok("slh-dsa", "public", "--key", tmp_path / name).stdout == expected, name


@pytest.mark.parametrize("form", NO_PEM)
def test_what_is_no_pem(tmp_path, keys, form):
    for name in ("key.pem", "public.pem"):
        (tmp_path / name).write_bytes(NO_PEM[form]((keys / name).read_bytes()))
        fails(BAD_DATA, "it holds no key of SLH-DSA", "slh-dsa", "public", "--key", tmp_path / name)


def test_keys_of_a_folder_in_every_form_of_pem(tmp_path):
    """genrsa keeps an existing key, even if someone has edited its file."""
    words = ("genrsa", "--count", "1", "--out-dir", tmp_path / "keys", "1024")
    ok(*words, devices="none")
    key = tmp_path / "keys" / "key-00000001.pem"
    good = key.read_bytes()
    older = openssl("pkey", "-traditional", "-in", key).stdout
    for text in [*(form(good) for form in PEM_FORMS.values()), older, older.replace(b"\n", b" \n")]:
        key.write_bytes(text)
        assert b"1 of them from before" in ok(*words, devices="none").stdout
        assert key.read_bytes() == text
    for form in NO_PEM.values():
        key.write_bytes(form(good))
        fails(BAD_DATA, "it holds no private RSA key", *words, devices="none")
    key.write_bytes(openssl("pkcs8", "-topk8", "-passout", "pass:x", stdin=good).stdout)
    fails(BAD_DATA, "it holds no private RSA key", *words, devices="none")
