# SPDX-License-Identifier: Apache-2.0
"""Servers that a test or dev/clients starts on this machine. Finds their programs, writes their
configurations, finds a free port, waits until they listen, and reads their answers."""

import contextlib
import os
import pathlib
import shutil
import socket
import ssl
import time


def program(name):
    """Returns the path of an installed program, or None. Finds servers too, although their
    folders are only in root's PATH."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, server):
    """Returns when the process `server` accepts connections. The test fails if the process ends,
    or accepts none for five minutes."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        assert server.poll() is None, f"the server ended: {server.communicate()}"
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server does not listen")


def children(server):
    """Returns the processes that the process `server` started and has not waited for."""
    return pathlib.Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()


@contextlib.contextmanager
def connected(port, key, version):
    """A TLS connection to a server that has the certificate of the folder `key`."""
    context = ssl.create_default_context(cafile=str(key / "certificate.pem"))
    context.minimum_version = context.maximum_version = version
    if version == ssl.TLSVersion.TLSv1_2:
        context.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256:AES128-GCM-SHA256")
    with socket.create_connection(("127.0.0.1", port), timeout=300) as plain_socket:
        with context.wrap_socket(plain_socket, server_hostname="localhost") as connection:
            yield connection


def handshake(port, key, version, path="/"):
    """Returns the answer of an HTTPS server."""
    with connected(port, key, version) as connection:
        connection.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def nginx(folder, port, key, user="root", serves='return 200 "here";'):
    """Returns the command that starts an nginx with two workers. It serves HTTPS on the port,
    with the key of the folder `key`, and keeps its files in `folder`. If root starts it, its
    workers run as `user`."""
    (folder / "nginx.conf").write_text(f"""
daemon off;
{f"user {user};" if os.geteuid() == 0 else ""}
worker_processes 2;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {key / 'certificate.pem'};
    ssl_certificate_key {key / 'key.pem'};
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache off;
    ssl_session_tickets off;
    location / {{ {serves} }}
  }}
}}
""")
    return [program("nginx"), "-p", str(folder), "-c", str(folder / "nginx.conf")]


def haproxy(folder, port, key,
            serves='http-request return status 200 content-type text/plain string "here"'):
    """Returns the command that starts an HAProxy. It serves HTTPS on the port, with the key of
    the folder `key`, and keeps its configuration in `folder`."""
    (folder / "haproxy.cfg").write_text(f"""
global
    nbthread 2
defaults
    mode http
    timeout connect 300s
    timeout client 300s
    timeout server 300s
frontend tls
    bind 127.0.0.1:{port} ssl crt {key / 'both.pem'}
    {serves}
""")
    return [program("haproxy"), "-W", "-f", str(folder / "haproxy.cfg")]
