# SPDX-License-Identifier: Apache-2.0
"""The TLS servers that bench/service/handshakes.py measures: their configurations, start and end.
Each uses the certificate of a folder with key.pem, certificate.pem and both.pem (both in one
file), and resumes no session."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from service import TICKS, ROOT

sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from local_server import free_port  # noqa: E402

OTHER_USER = "www-data"


class Absent(Exception):
    """A program is not installed on this machine."""


def stats_of_processes():
    """Returns the fields of /proc/PID/stat after the name, by process. Not every kernel lists the
    children of a process."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                text = pathlib.Path(f"/proc/{name}/stat").read_text(encoding="utf-8",
                                                                    errors="replace")
            except OSError:
                continue
            found[int(name)] = text.rpartition(")")[2].split()
    return found


def below(root, stats):
    """Returns a process and all its descendants."""
    children = {}
    for process, fields in stats.items():
        children.setdefault(int(fields[1]), []).append(process)
    found, todo = [], [root]
    while todo:
        process = todo.pop()
        found.append(process)
        todo += children.get(process, [])
    return found


def processes_below(root):
    return below(root, stats_of_processes())


def cpu_seconds_below(root):
    """Returns the CPU time of a process and of all its descendants, including those that have
    ended."""
    stats = stats_of_processes()
    return sum(int(field) for process in below(root, stats) if process in stats
               for field in stats[process][11:15]) / TICKS


class Server:
    """A server with one configuration. `environment` has its OPENSSL_CONF. `root` is a folder
    with unpacked packages, or None for the system's own programs."""

    PROGRAMS = ()  # names; the first one that is found is used
    GET, ANSWER = "/", "here"  # what clients request, and what the answer must contain
    STARTTLS = ""
    RELOADS_BY, ENDS_BY = signal.SIGHUP, signal.SIGTERM

    def __init__(self, folder, keys, environment, root=None, workers=1, cpus=None):
        folder.mkdir()
        folder.chmod(0o755)
        self.folder, self.keys, self.root, self.workers = folder, keys, root, workers
        self.cpus, self.port, self.process = cpus, free_port(), None
        self.environment = {**environment, "HOME": str(folder)}
        if root:
            libraries = [str(root / part) for part in
                         ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")]
            libraries += filter(None, [environment.get("LD_LIBRARY_PATH")])
            self.environment["LD_LIBRARY_PATH"] = ":".join(libraries)
        self.program = self.find(*self.PROGRAMS)

    def find(self, *names):
        folders = [f"{self.root or ''}/{part}" for part in
                   ("usr/sbin", "usr/bin", "usr/local/sbin", "sbin")]
        for name in names:
            path = shutil.which(name, path=":".join(folders))
            if path:
                return path
        raise Absent(f"there is no {' or '.join(names)}")

    def command(self):
        raise NotImplementedError

    def start(self):
        command = [str(word) for word in self.command()]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                command, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True,
                preexec_fn=lambda: self.cpus and os.sched_setaffinity(0, self.cpus))
        self.wait_for_port()

    def wait_for_port(self):
        """Returns when the server listens. It does not connect, since a connection would
        count."""
        wanted = f":{self.port:04X} 00000000:0000 0A"
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended: {self.log()}")
            if wanted in pathlib.Path("/proc/net/tcp").read_text(encoding="ascii"):
                time.sleep(0.3)  # until its workers have started
                return
            time.sleep(0.02)
        raise RuntimeError(f"the server does not listen: {self.log()}")

    def whole_log(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def log(self):
        return self.whole_log()[-1500:]

    def end(self):
        if self.process is None or self.process.poll() is not None:
            return
        all_of_it = processes_below(self.process.pid)
        self.process.send_signal(self.ENDS_BY)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            for process in all_of_it:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.wait()

    def cpu_seconds(self):
        return cpu_seconds_below(self.process.pid)

    def reload(self):
        self.process.send_signal(self.RELOADS_BY)

    def workers_now(self):
        return processes_below(self.process.pid)[1:]


class Nginx(Server):
    PROGRAMS = ("nginx",)

    def command(self):
        user = "user root;" if os.geteuid() == 0 else ""
        paths = "".join(f"{name}_temp_path {self.folder}/{name};\n" for name in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.folder / "nginx.conf").write_text(f"""
daemon off;
{user}
worker_processes {self.workers};
pid {self.folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  {paths}
  server {{
    listen 127.0.0.1:{self.port} {self.listens()};
    {self.tls()}
    location / {{ return 200 "here"; }}
  }}
}}
""", encoding="utf-8")
        return [self.program, "-e", "stderr", "-p", self.folder, "-c", self.folder / "nginx.conf"]

    def listens(self):
        return "ssl backlog=4096"

    def tls(self):
        return f"""ssl_certificate {self.keys}/certificate.pem;
    ssl_certificate_key {self.keys}/key.pem;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache off;
    ssl_session_tickets off;"""


class PlainNginx(Nginx):
    """Serves HTTP without TLS, behind another server."""

    def listens(self):
        return "backlog=4096"

    def tls(self):
        return ""


class HAProxy(Server):
    PROGRAMS = ("haproxy",)
    ENDS_BY = signal.SIGUSR1
    ASYNC = ""

    def command(self):
        (self.folder / "haproxy.cfg").write_text(f"""
global
    nbthread {self.workers}
    maxconn 4000
    tune.ssl.cachesize 0
    {self.ASYNC}
defaults
    mode http
    timeout connect 60s
    timeout client 60s
    timeout server 60s
frontend tls
    bind 127.0.0.1:{self.port} ssl crt {self.keys}/both.pem no-tls-tickets backlog 4096
    http-request return status 200 content-type text/plain string "here"
""", encoding="utf-8")
        return [self.program, "-f", self.folder / "haproxy.cfg"]


class AsyncHAProxy(HAProxy):
    ASYNC = "ssl-mode-async"


class Apache(Server):
    PROGRAMS = ("apache2",)
    ENDS_BY = signal.SIGTERM
    RELOADS_BY = signal.SIGUSR1
    GET = "/page"
    MODULE = ""

    def limits(self):
        raise NotImplementedError

    def command(self):
        (self.folder / "page").write_text("here", encoding="utf-8")
        modules = f"{self.root or ''}/usr/lib/apache2/modules"
        user = f"User {OTHER_USER}\nGroup {OTHER_USER}" if os.geteuid() == 0 else ""
        (self.folder / "apache.conf").write_text(f"""
ServerRoot {self.folder}
DefaultRuntimeDir {self.folder}
ServerName localhost
PidFile {self.folder}/apache.pid
ErrorLog {self.folder}/log
LogLevel warn
LoadModule mpm_{self.MODULE}_module {modules}/mod_mpm_{self.MODULE}.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule ssl_module {modules}/mod_ssl.so
{user}
{self.limits()}
KeepAlive Off
ListenBackLog 4096
Listen 127.0.0.1:{self.port} https
DocumentRoot {self.folder}
SSLEngine on
SSLCertificateFile {self.keys}/certificate.pem
SSLCertificateKeyFile {self.keys}/key.pem
SSLSessionCache none
SSLSessionTickets off
<Directory {self.folder}>
Require all granted
</Directory>
""", encoding="utf-8")
        return [self.program, "-DFOREGROUND", "-f", self.folder / "apache.conf"]


class ApachePrefork(Apache):
    MODULE = "prefork"

    def limits(self):
        return (f"StartServers {self.workers}\nMinSpareServers 1\nMaxSpareServers {self.workers}\n"
                f"ServerLimit {self.workers}\nMaxRequestWorkers {self.workers}")


class ApacheEvent(Apache):
    MODULE = "event"
    THREADS = 16

    def limits(self):
        processes = max(1, self.workers // self.THREADS)
        return (f"StartServers {processes}\nServerLimit {processes}\nThreadLimit {self.THREADS}\n"
                f"ThreadsPerChild {self.THREADS}\nMaxRequestWorkers {processes * self.THREADS}\n"
                f"MinSpareThreads 1\nMaxSpareThreads {processes * self.THREADS}")


class Stunnel(Server):
    """One process with a thread for each connection, in front of an nginx without TLS."""

    PROGRAMS = ("stunnel4", "stunnel")

    def __init__(self, *arguments, **words):
        super().__init__(*arguments, **words)
        plain = {**self.environment, "OPENSSL_CONF": os.devnull}
        self.behind = PlainNginx(self.folder / "behind", self.keys, plain, self.root, 2, self.cpus)

    def command(self):
        (self.folder / "stunnel.conf").write_text(f"""
foreground = yes
pid =
syslog = no
debug = err
[server]
accept = 127.0.0.1:{self.port}
connect = 127.0.0.1:{self.behind.port}
cert = {self.keys}/certificate.pem
key = {self.keys}/key.pem
sessionCacheSize = 1
options = NO_TICKET
""", encoding="utf-8")
        return [self.program, self.folder / "stunnel.conf"]

    def start(self):
        self.behind.start()
        super().start()

    def end(self):
        super().end()
        self.behind.end()


class PostgreSQL(Server):
    """One process for each connection, forked when the connection arrives."""

    GET, STARTTLS, ENDS_BY = "", "postgres", signal.SIGINT

    def find(self, *names):
        found = sorted(pathlib.Path(f"{self.root or '/'}").glob("usr/lib/postgresql/*/bin/postgres"))
        if not found:
            raise Absent("there is no postgres")
        return found[-1]

    def as_user(self):
        # PostgreSQL does not run as root.
        if os.geteuid() != 0:
            return []
        return ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups"]

    def command(self):
        data = self.folder / "data"
        if os.geteuid() == 0:
            shutil.chown(self.folder, OTHER_USER)
        for name in ("key.pem", "certificate.pem"):
            shutil.copy(self.keys / name, self.folder / name)
            (self.folder / name).chmod(0o600)
            if os.geteuid() == 0:
                shutil.chown(self.folder / name, OTHER_USER)
        subprocess.run([*self.as_user(), self.program.with_name("initdb"), "-D", data, "-A", "trust",
                        "--no-sync"], env={**self.environment, "OPENSSL_CONF": os.devnull},
                       cwd=self.folder, check=True, capture_output=True)
        settings = {"listen_addresses": "127.0.0.1", "port": self.port, "ssl": "on",
                    "ssl_cert_file": self.folder / "certificate.pem",
                    "ssl_key_file": self.folder / "key.pem", "fsync": "off",
                    "max_connections": 1000, "unix_socket_directories": self.folder,
                    "log_min_messages": "fatal"}
        return [*self.as_user(), self.program, "-D", data,
                *(part for name, value in settings.items() for part in ("-c", f"{name}={value}"))]


# By name: the class, and the number of processes or threads.
SERVERS = {
    "nginx-16": (Nginx, 16), "nginx-64": (Nginx, 64), "nginx-256": (Nginx, 256),
    "nginx-2": (Nginx, 2), "nginx-8": (Nginx, 8), "nginx-32": (Nginx, 32),
    "nginx-128": (Nginx, 128), "nginx-512": (Nginx, 512),
    "haproxy": (HAProxy, 8), "haproxy-async": (AsyncHAProxy, 8),
    "apache-prefork-64": (ApachePrefork, 64), "apache-event-256": (ApacheEvent, 256),
    "apache-prefork-2": (ApachePrefork, 2), "apache-event-16": (ApacheEvent, 16),
    "stunnel": (Stunnel, 1), "postgresql": (PostgreSQL, 1),
}
