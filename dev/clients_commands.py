# SPDX-License-Identifier: Apache-2.0
"""The programs of dev/clients that run to completion: language runtimes that encrypt and sign,
the commands openssl, curl and borg, and tools that make keys and certificates."""

import json
import shutil

from clients_stage import REPOSITORY, expect
from local_server import free_port, nginx, wait_for
from provider_fixtures import IV, KEY, OPENSSL, plain

SCRIPTS = REPOSITORY / "dev" / "clients_scripts"
# Uses Debian's Python, which has Debian's cryptography package.
PYTHON = shutil.which("/usr/bin/python3") or "python3"
SOFTHSM = "/usr/lib/softhsm/libsofthsm2.so"
SECRET = b"a secret of a few bytes"


def same(made, wanted, what):
    expect(made == wanted, f"{what}: {len(made)} bytes, other than the wanted {len(wanted)}")


def check_outputs(stage, names):
    """Compares what a language runtime wrote with the output of the openssl command, and with
    what it wrote without the provider."""
    for name in names:
        made = (stage.folder / f"{name}.out").read_bytes()
        if name in ("ctr", "cbc"):
            wanted = plain(OPENSSL, "enc", f"-aes-256-{name}", "-K", KEY, "-iv", IV, "-in",
                           stage.key / "data.bin").stdout
        elif name == "gcm":
            # GCM's ciphertext is that of CTR from counter 2 on. The openssl command makes no tag.
            wanted = plain(OPENSSL, "enc", "-aes-256-ctr", "-K", KEY, "-iv", IV[:24] + "00000002",
                           "-in", stage.key / "data.bin").stdout
            wanted += made[len(wanted):]
            expect(len(made) == len(wanted) and len(made) % 16 == len(wanted) % 16, "GCM's length")
        elif name == "signature":
            wanted = plain(OPENSSL, "dgst", "-sha256", "-sign", stage.key / "key.pem",
                           stage.key / "data.bin").stdout
        elif name == "received":
            wanted = (stage.key / "data.bin").read_bytes()
        else:
            wanted = SECRET
        same(made, wanted, name)
        if stage.reference:
            same(made, (stage.reference / f"{name}.out").read_bytes(), f"{name} without the provider")


def language(script, *interpreter, outputs=("ctr", "cbc", "gcm", "signature", "opened")):
    def work(stage):
        for name in ("data.bin", "key.hex", "iv.hex", "key.pem", "certificate.pem", "sealed.bin"):
            shutil.copy(stage.key / name, stage.folder)
        stage.run(*interpreter, SCRIPTS / script, stage.folder)
        check_outputs(stage, outputs)
    return work


def openssl(stage):
    """Encrypts and decrypts files, signs, makes a key, and fails on a wrong key as it should."""
    key, data = stage.key / "key.pem", stage.key / "data.bin"
    run = stage.run
    run(OPENSSL, "version")
    same(run(OPENSSL, "rand", "1000").stdout.__len__().__str__().encode(), b"1000", "rand")
    for name in ("ctr", "cbc"):
        run(OPENSSL, "enc", f"-aes-256-{name}", "-K", KEY, "-iv", IV, "-in", data, "-out",
            stage.folder / f"{name}.out")
    run(OPENSSL, "dgst", "-sha256", "-sign", key, "-out", stage.folder / "signature.out", data)
    run(OPENSSL, "pkeyutl", "-decrypt", "-inkey", key, "-pkeyopt", "rsa_padding_mode:oaep", "-in",
        stage.key / "sealed.bin", "-out", stage.folder / "opened.out")
    check_outputs(stage, ("ctr", "cbc", "signature", "opened"))
    back = run(OPENSSL, "enc", "-d", "-aes-256-cbc", "-K", KEY, "-iv", IV, "-in",
               stage.folder / "cbc.out").stdout
    same(back, data.read_bytes(), "decrypted")
    run(OPENSSL, "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024", "-out",
        stage.folder / "new.pem")
    plain(OPENSSL, "pkey", "-in", stage.folder / "new.pem", "-check", "-noout")
    wrong = run(OPENSSL, "enc", "-d", "-aes-256-cbc", "-K", "ff" * 32, "-iv", IV, "-in",
                stage.folder / "cbc.out", status=None)
    # With one wrong key in 256 the padding looks valid.
    expect(wrong.returncode == 1 and b"bad decrypt" in wrong.stderr
           or wrong.stdout != data.read_bytes(), "a wrong key opens what is enciphered")


def curl(stage):
    """Gets a file from an nginx without the provider, by TLS 1.2 and 1.3, once and many times
    concurrently."""
    site = stage.folder / "site"
    site.mkdir()
    shutil.copy(stage.key / "data.bin", site)
    port = free_port()
    server = stage.start_plain(*nginx(site, port, stage.key, serves=f"root {site};"))
    wait_for(port, server)
    url = f"https://localhost:{port}/data.bin"
    options = ["curl", "-q", "-sS", "--fail", "--noproxy", "*", "--resolve",
               f"localhost:{port}:127.0.0.1", "--cacert", stage.key / "certificate.pem"]
    data = (stage.key / "data.bin").read_bytes()
    for version in ("1.2", "1.3"):
        got = stage.run(*options, f"--tlsv{version}", "--tls-max", version, url).stdout
        same(got, data, f"by TLS {version}")
    many = [part for n in range(8) for part in ("-o", stage.folder / f"got{n}", url)]
    stage.run(*options, "--parallel", *many)
    for n in range(8):
        same((stage.folder / f"got{n}").read_bytes(), data, "of many at once")
    # It must reject a server that it does not trust.
    stage.run("curl", "-q", "-sS", "--noproxy", "*", "--resolve", f"localhost:{port}:127.0.0.1",
              url, status=60)


def borg(stage):
    """Makes an encrypted archive, reads it back, and rejects a wrong passphrase."""
    files, back = stage.folder / "files", stage.folder / "back"
    files.mkdir()
    back.mkdir()
    shutil.copy(stage.key / "data.bin", files)
    (files / "small").write_bytes(b"a few bytes")
    repository = stage.folder / "repository"
    environment = {"BORG_BASE_DIR": str(stage.folder / "borg"), "BORG_PASSPHRASE": "word"}

    def run(*command, **options):
        return stage.run("borg", *command, **{"environment": environment, **options})

    run("init", "-e", "repokey", repository)
    run("create", f"{repository}::one", files)
    run("check", "--verify-data", repository)
    listed = json.loads(run("list", "--json", repository).stdout)["archives"]
    expect([a["name"] for a in listed] == ["one"], "the archive is not listed")
    run("extract", "--strip-components", str(len(files.parts) - 1), f"{repository}::one")
    for name in ("data.bin", "small"):
        same((stage.folder / name).read_bytes(), (files / name).read_bytes(), name)
    run("list", repository, status=2, environment={**environment, "BORG_PASSPHRASE": "other"})


def softhsm(stage):
    """Imports a key into a token, signs with it, and makes keys there, by PKCS #11."""
    (stage.folder / "tokens").mkdir()
    configuration = stage.folder / "softhsm2.conf"
    configuration.write_text(f"directories.tokendir = {stage.folder}/tokens\n")

    def run(*command):
        stage.run(*command, environment={"SOFTHSM2_CONF": str(configuration)})

    def token(*command):
        run("pkcs11-tool", "--module", SOFTHSM, "--token-label", "one", "--pin", "1234", *command)

    run("softhsm2-util", "--init-token", "--free", "--label", "one", "--pin", "1234", "--so-pin", "1234")
    run("softhsm2-util", "--import", stage.key / "key.pem", "--token", "one", "--label", "key", "--id",
        "01", "--pin", "1234")
    token("--sign", "-m", "SHA256-RSA-PKCS", "--id", "01", "-i", stage.key / "data.bin", "-o",
          stage.folder / "signature.out")
    check_outputs(stage, ("signature",))
    token("--keypairgen", "--key-type", "rsa:2048", "--id", "02")
    token("--keygen", "--key-type", "AES:32", "--id", "03")
    cipher = ("-m", "AES-CBC-PAD", "--iv", IV, "--id", "03")
    token("--encrypt", *cipher, "-i", stage.key / "public.pem", "-o", stage.folder / "sealed")
    token("--decrypt", *cipher, "-i", stage.folder / "sealed", "-o", stage.folder / "back")
    same((stage.folder / "back").read_bytes(), (stage.key / "public.pem").read_bytes(), "decrypted")


def strongswan(stage):
    """Makes a key and a certificate with strongSwan's pki and its plugin openssl."""
    configuration = stage.folder / "strongswan.conf"
    configuration.write_text("pki { load = random nonce x509 pubkey pkcs1 pkcs8 pem openssl }\n")

    def pki(*command):
        return stage.run("pki", *command, environment={"STRONGSWAN_CONF": str(configuration)}).stdout

    (stage.folder / "new.pem").write_bytes(
        pki("--gen", "--type", "rsa", "--size", "2048", "--outform", "pem"))
    certificate = stage.folder / "certificate.pem"
    certificate.write_bytes(pki("--self", "--in", stage.folder / "new.pem", "--type", "rsa", "--dn",
                                "CN=localhost", "--ca", "--outform", "pem"))
    pki("--verify", "--in", certificate, "--cacert", certificate)
    plain(OPENSSL, "verify", "-CAfile", certificate, certificate)
