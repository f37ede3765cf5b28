# SPDX-License-Identifier: Apache-2.0
"""The configurations in the documents, tried as described with the real `openssl`."""

import json
import os
import re
import subprocess

import pytest

from provider_fixtures import IV, KEY, OPENSSL, plain

DOCUMENTS = ("README.md", "docs/operate.md", "docs/lanecrypt-provider.7")


def configuration(repository, document):
    """Returns the document's configuration block, as a person would copy it."""
    text = (repository / document).read_text()
    # The block's indentation
    start = text[:text.index("openssl_conf = openssl_init")].rsplit("\n", 1)[1]
    block = re.search(rf"^{start}openssl_conf = openssl_init\n(?:{start or '(?![`.])'}.*\n|\n)*", text, re.M).group()
    return "".join(line.removeprefix(start) for line in block.splitlines(keepends=True))


def value(text, section, name):
    """Returns the value of the name in the section (None: before the first) of a simple file."""
    now, found = None, None
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if header := re.fullmatch(r"\[\s*(\S+)\s*\]", line):
            now = header[1]
        elif (pair := re.fullmatch(r"(\w+)\s*=\s*(.*)", line)) and now == section and pair[1] == name:
            found = pair[2]
    return found


def sees_the_provider(tmp_path, build, text, also=()):
    """Runs openssl with `text` as its configuration, and checks that it used the provider.
    `also` names other providers that must stay active."""
    section = value(text, value(text, value(text, None, "openssl_conf"), "providers"), "gpu")
    stats = tmp_path / "stats.json"
    path = tmp_path / "openssl.cnf"
    path.write_text(f"{text}\n[{section}]\nstats_file = {stats}\n")
    environment = {**os.environ, "OPENSSL_CONF": str(path), "LANECRYPT_DEVICES": "host"}
    if value(text, section, "module") is None:
        environment["OPENSSL_MODULES"] = str(build / "lib")

    def run(*words):
        done = subprocess.run([OPENSSL, *words], env=environment, capture_output=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    told = run("list", "-providers").decode()
    for name in ("default", "gpu", *also):
        assert re.search(rf"^  {name}\n(?:    .*\n)*    status: active$", told, re.M), told
    words = ("enc", "-aes-256-ctr", "-K", KEY, "-iv", IV, "-in", str(build / "lib" / "gpu.so"))
    assert run(*words) == plain(OPENSSL, *words).stdout
    # The provider did the work. By default it offers only RSA.
    key, text = tmp_path / "key.pem", tmp_path / "text"
    text.write_bytes(b"text")
    plain(OPENSSL, "genrsa", "-out", key, "2048")
    run("dgst", "-sha256", "-sign", str(key), "-out", str(tmp_path / "signature"), str(text))
    counters = json.loads(stats.read_text().splitlines()[-1])
    assert sum(counters[f"rsa_{by}_jobs"] for by in ("device", "service", "cpu")) > 0


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_file_for_one_program(tmp_path, repository, build, document):
    sees_the_provider(tmp_path, build, configuration(repository, document))


@pytest.mark.parametrize("document", DOCUMENTS[:2])
def test_the_settings_that_are_commented_out(tmp_path, repository, build, document):
    """Each setting is used as it stands there, except paths and devices that do not exist here."""
    text = re.sub(r"^# (?=\w+ = )", "", configuration(repository, document), flags=re.M)
    text, found = re.subn(r"^module = \S+", f"module = {build}/lib/gpu.so", text, flags=re.M)
    assert found == 1 and "\nthreshold_bytes = " in text
    text = text.replace("devices = cuda:0", "devices = host").replace("require_gpu = yes", "require_gpu = no")
    sees_the_provider(tmp_path, build, text)


def system_file():
    folder = re.search(r'"(.*)"', plain("openssl", "version", "-d").stdout.decode())[1]
    path = os.path.join(folder, "openssl.cnf")
    if not os.path.exists(path):
        pytest.skip("this system has no openssl.cnf")
    with open(path, encoding="utf-8") as file:
        return file.read()


# The system's file, one like OpenSSL's own, one with more in its sections, and an old one.
FORMS = {
    "the system's": system_file,
    "OpenSSL's": lambda: """
openssl_conf = openssl_init
[openssl_init]
providers = provider_sect
[provider_sect]
default = default_sect
[default_sect]
# activate = 1
[ca]
default_ca = CA_default
""",
    "another's": lambda: """
openssl_conf = start
[start]
providers = list_of_providers
alg_section = properties
ssl_conf = tls
[list_of_providers]
default = plain
base = base_settings
[plain]
activate = 1
[base_settings]
activate = 1
[properties]
[tls]
system_default = tls_settings
[tls_settings]
MinProtocol = TLSv1.2
""",
    "an old one": lambda: "oid_section = new_oids\n[new_oids]\n[ca]\ndefault_ca = CA_default\n",
}


def put_into(text, block):
    """Adds the block as docs/operate.md describes: under the names of the file's sections."""
    first, rest = block.split("\n", 1)
    start = value(text, None, "openssl_conf")
    if start is None:
        return f"{first}\n{text}\n{rest}"
    for name in ("providers", "alg_section"):
        ours, its = value(rest, "openssl_init", name), value(text, start, name)
        if its is not None:
            rest = re.sub(rf"\b{ours}\b", its, rest)
    return text + "\n" + rest.replace("[openssl_init]", f"[{start}]")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_file_of_a_system(tmp_path, repository, build, document, form):
    text = put_into(FORMS[form](), configuration(repository, document))
    sees_the_provider(tmp_path, build, text, also=["base"] if form == "another's" else [])


def test_every_setting_is_told(repository):
    source = (repository / "provider" / "settings.cpp").read_text()
    names = re.findall(r'{\.name = "(\w+)"', source)
    assert len(names) >= 14
    table = (repository / "docs" / "operate.md").read_text()
    page = (repository / "docs" / "lanecrypt-provider.7").read_text()
    for name in names:
        assert f"\n| `{name}` | " in table and f"\n.TP\n.B {name}\n" in page, name
