# SPDX-License-Identifier: Apache-2.0
"""The servers of dev/clients that serve TLS to many clients and are reloaded meanwhile: nginx,
Apache with processes and with threads, HAProxy and stunnel."""

import contextlib
import http.client
import http.server
import itertools
import os
import shutil
import signal
import ssl
import threading
import time

from clients_stage import descendants, expect, kill_all, read
from local_server import children, free_port, handshake, haproxy, nginx, program, wait_for

VERSIONS = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)
VISITORS = 6
RELOADS = 3
# What servers write into their logs if a worker crashed.
CRASHES = ("exited on signal", "exit signal", "killed by signal", "killed with signal",
           "exited with code 1", "segfault", "Segmentation",
           "Aborted", "INTERNAL ERROR")


def other_user():
    """Returns the user of a server's workers if root starts it, otherwise None."""
    return "www-data" if os.geteuid() == 0 else None


class Visitors:
    """Threads that fetch the data from a server all the time, and check what they get."""

    def __init__(self, stage, port):
        self.stage, self.port = stage, port
        self.data = (stage.key / "data.bin").read_bytes()
        self.count, self.failures, self.over = itertools.count(), [], threading.Event()
        self.served = 0
        self.threads = [threading.Thread(target=self.visit, daemon=True) for _ in range(VISITORS)]

    def once(self, number):
        answer = handshake(self.port, self.stage.key, VERSIONS[number % 2], "/data.bin")
        head, _, body = answer.partition(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n")[0] or body != self.data:
            raise OSError(f"the answer {head[:60]!r} with {len(body)} bytes")

    def visit(self):
        while not self.over.is_set():
            try:
                self.once(next(self.count))
                self.served += 1
            except OSError as error:
                self.failures.append(f"{type(error).__name__}: {error}")
                time.sleep(0.05)

    def wait_for_more(self, visits=4):
        """Returns after `visits` more requests were served. Fails if that takes too long."""
        wanted, until = self.served + visits, time.monotonic() + self.stage.options.timeout
        while self.served < wanted:
            expect(time.monotonic() < until, f"serves nobody any more: {self.failures[-1:]}")
            time.sleep(0.02)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join(self.stage.options.timeout)


@contextlib.contextmanager
def origin(stage):
    """Returns the port of a plain HTTP server in this process, for servers that act as a
    proxy."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *parts):
            super().__init__(*parts, directory=str(stage.key))

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def takes(process, number):
    """Returns whether a process has a handler for the signal, or blocks it until it will handle
    it."""
    masks = [int(line.split()[1], 16) for line in read(f"/proc/{process}/status").splitlines()
             if line.startswith(("SigCgt:", "SigBlk:"))]
    return any(mask & 1 << number - 1 for mask in masks)


def reload(stage, server, by, visitors, has_workers):
    """Makes a server reload its configuration. New workers must start, clients must be served,
    and the old workers must end."""
    def wait(what, done):
        until = time.monotonic() + stage.options.timeout
        while not done():
            expect(time.monotonic() < until, what)
            time.sleep(0.02)

    # HAProxy's master ignores signals while it restarts itself.
    wait("the server takes no signal", lambda: takes(server.pid, by))
    before = set(children(server))
    server.send_signal(by)
    if has_workers:
        wait("no new worker came", lambda: set(children(server)) - before)
    visitors.wait_for_more(VISITORS)
    if has_workers:
        # A HAProxy worker that still serves its last clients is killed by the next reload, with
        # any provider or none, because it handles the signal to end only once.
        wait("an old worker does not end", lambda: not before & set(children(server)))


def serve(stage, server, port, reload_by, end_by, kills_workers=True, has_workers=True):
    """Runs clients against the server, reloads it under their load, and ends it. With --hard it
    also kills workers, and then some of their clients may fail. A server without workers opens
    its port again when it is reloaded. It then drops the clients that wait, with any provider or
    none."""
    wait_for(port, server)
    with Visitors(stage, port) as visitors:
        visitors.wait_for_more(VISITORS)
        for _ in range(RELOADS):
            reload(stage, server, reload_by, visitors, has_workers)
        failures = [f for f in visitors.failures if has_workers or "Connection" not in f]
        expect(not failures, f"{len(failures)} requests failed, and {visitors.served} did not:"
               f" {failures[0] if failures else ''}")
        crashed = [line for line in stage.log().splitlines() if any(c in line for c in CRASHES)]
        expect(not crashed, f"a worker crashed: {crashed[:1]}")
        if stage.options.hard and kills_workers:
            for _ in range(RELOADS):
                killed = {int(child) for child in children(server)}
                kill_all(killed)
                visitors.wait_for_more(VISITORS)
                alive = descendants(os.getpid(), stage.apart)
                expect(not killed & alive, "a killed worker lives")
    stage.end(server, end_by)


def serve_by_nginx(stage):
    port = free_port()
    shutil.copy(stage.key / "data.bin", stage.folder)
    command = nginx(stage.folder, port, stage.key, user=other_user(),
                    serves=f"root {stage.folder};")
    serve(stage, stage.start(*command), port, signal.SIGHUP, signal.SIGQUIT)


def serve_by_haproxy(stage):
    port = free_port()
    with origin(stage) as behind:
        command = haproxy(stage.folder, port, stage.key, "default_backend origin\n"
                          f"backend origin\n    server one 127.0.0.1:{behind}")
        # HAProxy's master ends if its worker is killed, with any provider or none.
        serve(stage, stage.start(*command), port, signal.SIGUSR2, signal.SIGUSR1, False)


def serve_by_apache(module):
    def work(stage):
        port = free_port()
        shutil.copy(stage.key / "data.bin", stage.folder)
        modules = "/usr/lib/apache2/modules"
        user = f"User {other_user()}\nGroup {other_user()}" if other_user() else ""
        (stage.folder / "apache.conf").write_text(f"""
ServerRoot {stage.folder}
DefaultRuntimeDir {stage.folder}
ServerName localhost
PidFile {stage.folder}/apache.pid
ErrorLog {stage.folder}/log
LogLevel warn
LoadModule mpm_{module}_module {modules}/mod_mpm_{module}.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule ssl_module {modules}/mod_ssl.so
{user}
StartServers 2
Listen 127.0.0.1:{port} https
DocumentRoot {stage.folder}
SSLEngine on
SSLCertificateFile {stage.key}/certificate.pem
SSLCertificateKeyFile {stage.key}/key.pem
SSLSessionCache none
SSLSessionTickets off
<Directory {stage.folder}>
Require all granted
</Directory>
""")
        server = stage.start(program("apache2"), "-DFOREGROUND", "-f",
                             stage.folder / "apache.conf")
        serve(stage, server, port, signal.SIGUSR1, signal.SIGWINCH)
    return work


def serve_by_stunnel(stage):
    """One stunnel with two services: a TLS server in front of an HTTP server, and a TLS client,
    which clients reach without TLS."""
    port, plain_port = free_port(), free_port()
    with origin(stage) as behind:
        (stage.folder / "stunnel.conf").write_text(f"""
foreground = yes
pid =
syslog = no
debug = notice
[server]
accept = 127.0.0.1:{port}
connect = 127.0.0.1:{behind}
cert = {stage.key}/both.pem
[client]
client = yes
accept = 127.0.0.1:{plain_port}
connect = 127.0.0.1:{port}
CAfile = {stage.key}/certificate.pem
verifyChain = yes
checkHost = localhost
""")
        server = stage.start(program("stunnel4") or program("stunnel"),
                             stage.folder / "stunnel.conf")
        wait_for(plain_port, server)
        data = (stage.key / "data.bin").read_bytes()
        for _ in range(4):
            connection = http.client.HTTPConnection("127.0.0.1", plain_port, timeout=60)
            connection.request("GET", "/data.bin")
            expect(connection.getresponse().read() == data, "other bytes came by two tunnels")
            connection.close()
        # stunnel has no workers.
        serve(stage, server, port, signal.SIGHUP, signal.SIGTERM, False, False)
