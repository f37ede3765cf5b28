# SPDX-License-Identifier: Apache-2.0
"""The servers of dev/clients that have a process for each session: OpenSSH, whose process is
sandboxed before the login, and PostgreSQL."""

import getpass
import glob
import os
import pathlib
import shutil
import signal
import subprocess
import time

from clients_stage import expect, kill_all
from local_server import children, free_port, program, wait_for
from provider_fixtures import plain

# Each uses a different cipher of OpenSSL. The last one has a separate MAC.
SSH_CIPHERS = ("aes128-ctr", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com",
               "aes256-cbc")
SESSIONS_AT_ONCE = 4


class SecureShell:
    """A private sshd on a loopback port, and a client's command for it."""

    def __init__(self, stage, starts):
        folder, self.port = stage.folder, free_port()
        for name in ("host_rsa", "host_ed25519", "user"):
            kind = ["ed25519"] if name == "host_ed25519" else ["rsa", "-b", "2048"]
            plain("ssh-keygen", "-q", "-t", *kind, "-N", "", "-f", folder / name)
        shutil.copy(folder / "user.pub", folder / "authorized_keys")
        (folder / "sshd_config").write_text(f"""
ListenAddress 127.0.0.1
Port {self.port}
HostKey {folder}/host_rsa
HostKey {folder}/host_ed25519
AuthorizedKeysFile {folder}/authorized_keys
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PidFile none
MaxStartups 100
LogLevel VERBOSE
Ciphers {",".join(SSH_CIPHERS)}
Subsystem sftp internal-sftp
""")
        lines = [f"localhost {(folder / f'{name}.pub').read_text()}"
                 for name in ("host_rsa", "host_ed25519")]
        (folder / "known_hosts").write_text("".join(lines))
        self.options = ["-F", "none", "-i", folder / "user", "-p", self.port, "-o", "BatchMode=yes",
                        "-o", f"UserKnownHostsFile={folder}/known_hosts", "-o",
                        "GlobalKnownHostsFile=none", "-o", "HostKeyAlias=localhost", "-o",
                        "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=yes"]
        self.address = f"{getpass.getuser()}@127.0.0.1"
        # sshd executes itself for each session, so it needs its full path.
        self.server = starts(program("sshd"), "-D", "-e", "-f", folder / "sshd_config")
        wait_for(self.port, self.server)

    def command(self, cipher, remote):
        return [str(part) for part in
                ("ssh", *self.options, "-c", cipher, self.address, remote)]


class SandboxFolder:
    """The root folder of sshd's sandboxed process, which a machine may lack."""

    def __enter__(self):
        self.made = []
        if os.geteuid() == 0 and not os.path.isdir("/run/sshd"):
            os.mkdir("/run/sshd", 0o755)
            self.made = ["/run/sshd"]

    def __exit__(self, *_):
        for folder in self.made:
            os.rmdir(folder)


def sshd(stage):
    """Logs in with each cipher by a client without the provider, with one session and with
    several."""
    data = (stage.key / "data.bin").read_bytes()
    with SandboxFolder():
        shell = SecureShell(stage, stage.start)

        def begin(cipher):
            process = subprocess.Popen(shell.command(cipher, "cat"), stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       start_new_session=True)
            stage.apart.add(process.pid)
            return process

        def finish(process, cipher):
            done = stage.finish(process, ["ssh", "-c", cipher], input=data)
            said = done.stderr.decode(errors="replace").strip()[-150:]
            expect(done.returncode == 0, f"ssh -c {cipher} cannot log in: {said}")
            expect(done.stdout == data, f"other bytes came by {cipher}")

        failed = []
        for cipher in SSH_CIPHERS:
            try:
                finish(begin(cipher), cipher)
            except Exception as failure:  # the other ciphers are tried too
                failed.append(str(failure))
        expect(not failed, "; ".join(failed))
        several = [(begin(cipher), cipher) for cipher in SSH_CIPHERS[:3]
                   for _ in range(SESSIONS_AT_ONCE)]
        for process, cipher in several:
            finish(process, cipher)
        expect(b"Permission denied" in wrong_key(stage, shell), "a wrong key is not refused")
        # sshd logs the signal, and then ends by it.
        stage.end(shell.server, signal.SIGTERM, (0, 255, -signal.SIGTERM))


def wrong_key(stage, shell):
    plain("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", stage.folder / "other")
    command = shell.command("aes128-ctr", "true")
    command[command.index(str(stage.folder / "user"))] = str(stage.folder / "other")
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                          check=False).stderr


def ssh(stage):
    """Runs the client and sftp with the provider, and an sshd without it."""
    data = (stage.key / "data.bin").read_bytes()
    with SandboxFolder():
        shell = SecureShell(stage, stage.start_plain)
        for cipher in SSH_CIPHERS:
            done = stage.run(*shell.command(cipher, "cat"), input=data)
            expect(done.stdout == data, f"other bytes came by {cipher}")
        stage.run("sftp", *["-P" if part == "-p" else part for part in shell.options],
                  f"{shell.address}:{stage.key}/data.bin", stage.folder / "got")
        expect((stage.folder / "got").read_bytes() == data, "other bytes came by sftp")
        stage.run(*shell.command("aes128-ctr", "exit 7"), status=7)


def postgres_program(name):
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    return found[-1] if found else program(name)


def postgresql(stage):
    """Runs a cluster whose clients use TLS and functions that encrypt. It is reloaded and
    restarted."""
    user = "postgres" if os.geteuid() == 0 else None
    home = stage.folder / "cluster"
    home.mkdir()
    for name in ("key.pem", "certificate.pem"):
        shutil.copy(stage.key / name, home)
    (home / "key.pem").chmod(0o600)
    if user:
        for path in (home, home / "key.pem"):
            shutil.chown(path, user, user)
    stage.run(postgres_program("initdb"), "-D", home / "data", "-A", "trust", "-U", "postgres", "-N",
              user=user)
    port = free_port()
    command = [postgres_program("postgres"), "-D", home / "data", "-p", port, "-h", "127.0.0.1",
               "-k", home, "-c", "ssl=on", "-c", f"ssl_cert_file={home}/certificate.pem", "-c",
               f"ssl_key_file={home}/key.pem", "-c", "fsync=off"]
    address = (f"host=localhost hostaddr=127.0.0.1 port={port} user=postgres dbname=postgres"
               f" sslmode=verify-full sslrootcert={stage.key}/certificate.pem")

    def ask(question):
        done = stage.run(postgres_program("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1",
                         "-d", address, "-c", question)
        return done.stdout.decode().strip()

    def wait_until_ready():
        """Waits until it serves, which is later than when it listens."""
        until = time.monotonic() + stage.options.timeout
        while stage.run(postgres_program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", port, "-t", "60",
                        status=None).returncode != 0:
            expect(time.monotonic() < until, "it does not get ready")
            time.sleep(0.1)

    for round_ in range(2):
        server = stage.start(*command, user=user)
        wait_for(port, server)
        wait_until_ready()
        if round_ == 0:
            ask("create extension pgcrypto")
            ask("create table t as select encrypt(text::bytea, 'a key of 16 byte', 'aes') as sealed,"
                " pgp_sym_encrypt(text, 'word') as pgp from repeat('text of a row ', 8192) as text")
        expect(ask("select version from pg_stat_ssl where pid = pg_backend_pid()")
               .startswith("TLSv1"), "the session is not by TLS")
        expect(ask("select convert_from(decrypt(sealed, 'a key of 16 byte', 'aes'), 'utf8')"
                   " = pgp_sym_decrypt(pgp, 'word') from t") == "t", "what was encrypted is other")
        stage.run("kill", "-HUP", str(server.pid))
        rows = ask("select repeat(md5(g::text), 32) from generate_series(1, 512) g")
        expect(len(rows.splitlines()) == 512, "rows are missing")
        if stage.options.hard and round_ == 0:
            # After a backend was killed, the server restarts with all stored data.
            kill_all(int(child) for child in children(server))
            time.sleep(0.5)
            wait_until_ready()
            expect(ask("select count(*) from t") == "1", "the table is not there after a crash")
        stage.end(server, signal.SIGINT)
    log = pathlib.Path(stage.folder / "log").read_text(errors="replace")
    expect(stage.options.hard or "terminated by signal" not in log, "a backend crashed")
