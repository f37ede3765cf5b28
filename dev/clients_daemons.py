# SPDX-License-Identifier: Apache-2.0
"""The servers of dev/clients that check a configuration, start, serve one client, and stop: mail,
DNS, VPN, proxies, message brokers and databases. A row of DAEMONS describes each."""

import getpass
import imaplib
import os
import shlex
import shutil
import signal
import smtplib
import ssl
import string
import subprocess
import time
import typing

from clients_servers import CRASHES, origin, other_user
from clients_stage import OURS, Failure, descendants, expect, read
from local_server import free_port, program, wait_for
from provider_fixtures import OPENSSL, plain


class Daemon(typing.NamedTuple):
    # The command that prints the version. It fails if only root may start the server, and this
    # process is not root.
    version: list
    # The configuration files by name.
    files: dict
    # The command that serves in the foreground.
    start: str
    # Called one after another with the stage and the names to substitute, while the server runs.
    use: tuple
    # Commands that run first, to check the configuration or to make keys.
    first: tuple = ()
    # Whether its processes can write counters.
    counts: bool = True
    # The signal that stops it, and the exit statuses that are allowed.
    by: int = signal.SIGTERM
    statuses: tuple = (0,)
    # Whether the server runs as another user if root starts it. Such a server refuses to run as
    # root.
    as_other: bool = False


def fill(text, names):
    """Substitutes $home, $key, $port and so on."""
    return string.Template(text).substitute(names)


def words(command, names):
    """Returns the words of a command. The first one is also searched for in the folders of
    servers."""
    first, *others = (fill(word, names) for word in shlex.split(command))
    path = program(first)
    if not path:
        raise Failure(f"{first} is not installed")
    return [path, *others]


def wait_for_log(stage, text, times=1):
    until = time.monotonic() + stage.options.timeout
    while stage.log().count(text) < times:
        expect(time.monotonic() < until, f"no line of the log has {text!r}: {stage.log()[-300:]}")
        time.sleep(0.02)


def connects(*options):
    """Connects by TLS 1.2 and 1.3 with a client without the provider, which checks the
    certificate."""
    def use(stage, names):
        for version in ("-tls1_2", "-tls1_3"):
            plain("timeout", stage.options.timeout, OPENSSL, "s_client", "-connect",
                  f"127.0.0.1:{names['port']}", version, "-CAfile", stage.key / "certificate.pem",
                  "-verify_return_error", "-verify_hostname", "localhost", *options, stdin=subprocess.DEVNULL)
    return use


def client(command, *wanted):
    """Runs a client, which also has the provider, until its output contains all texts: some
    servers sign or load their zone only after they listen."""
    def use(stage, names):
        until = time.monotonic() + stage.options.timeout
        while True:
            done = stage.run(*words(command, names))
            said = (done.stdout + done.stderr).decode(errors="replace")
            if all(text in said for text in wanted):
                return
            expect(time.monotonic() < until, f"{command.split()[0]} wrote {said[-300:]!r}")
            time.sleep(0.1)
    return use


def gets_data(stage, names):
    """Fetches data.bin by curl, which also has the provider."""
    done = stage.run("curl", "-q", "-sS", "--fail", "--noproxy", "*", "--cacert",
                     stage.key / "certificate.pem", f"https://localhost:{names['port']}/data.bin")
    expect(done.stdout == (stage.key / "data.bin").read_bytes(), "other bytes came")


def reads_mail(stage, names):
    context = ssl.create_default_context(cafile=str(stage.key / "certificate.pem"))
    with imaplib.IMAP4_SSL("localhost", names["port"], ssl_context=context, timeout=60) as mail:
        mail.login("someone", "word")
        mail.append("INBOX", None, None, b"Subject: one\r\n\r\na line\r\n")
        mail.select("INBOX")
        expect(b"a line" in mail.fetch("1", "BODY[]")[1][0][1], "the mail is not there")


def sends_mail(stage, names):
    """Sends a mail by STARTTLS. postfix passes it on to a second smtpd of its own, also by
    TLS."""
    context = ssl.create_default_context(cafile=str(stage.key / "certificate.pem"))
    with smtplib.SMTP("localhost", names["port"], timeout=60) as mail:
        mail.starttls(context=context)
        mail.sendmail("one@localhost", "two@localhost", "Subject: one\r\n\r\na line\r\n")
    wait_for_log(stage, "status=sent", 2)


ZONE = """
@ 3600 IN SOA a.example. b.example. 1 3600 3600 3600 3600
@ 3600 IN NS a.example.
a 3600 IN A 192.0.2.1
"""
# If root starts it, it changes to another user by default.
ICINGA2 = "env ICINGA2_USER=$me ICINGA2_GROUP=$me icinga2"
ICINGA2_FOLDERS = " ".join(f"-D {name}=$home" for name in ("DataDir", "CacheDir", "LogDir", "InitRunDir",
                                                          "SpoolDir", "ConfigDir"))
DAEMONS = {
    "nghttpx": Daemon(["nghttpx", "--version"], {},
                      "nghttpx --conf=/dev/null -f127.0.0.1,$port -b127.0.0.1,$behind --workers=2 "
                      "--no-ocsp --errorlog-file=/dev/stderr $key/key.pem $key/certificate.pem",
                      (connects(), gets_data,
                       client("h2load -n 64 -c 8 https://localhost:$port/data.bin", "64 succeeded")),
                      by=signal.SIGQUIT),
    "squid": Daemon(["squid", "-v"], {"squid.conf": """
https_port 127.0.0.1:$port accel defaultsite=localhost tls-cert=$key/certificate.pem tls-key=$key/key.pem
cache_peer 127.0.0.1 parent $behind 0 no-query originserver
http_access allow all
cache deny all
pid_filename $home/pid
netdb_filename none
access_log none
cache_log /dev/stderr
coredump_dir none
visible_hostname localhost
pinger_enable off
shutdown_lifetime 0 seconds
"""}, "squid -N -f $home/squid.conf", (connects(), gets_data), ("squid -k parse -f $home/squid.conf",)),
    "lighttpd": Daemon(["sh", "-c", "test -e /usr/lib/lighttpd/mod_openssl.so && lighttpd -v"], {
        "lighttpd.conf": """
server.modules = ("mod_openssl")
server.document-root = "$key"
server.bind = "127.0.0.1"
server.port = $port
ssl.engine = "enable"
ssl.pemfile = "$key/certificate.pem"
ssl.privkey = "$key/key.pem"
"""}, "lighttpd -D -f $home/lighttpd.conf", (connects(), gets_data),
        ("lighttpd -tt -f $home/lighttpd.conf",), by=signal.SIGINT),
    "znc": Daemon(["znc", "--version"], {"configs/znc.conf": """
Version = 1.8.2
SSLCertFile = $key/both.pem
LoadModule = webadmin
<Listener one>
  Host = 127.0.0.1
  Port = $port
  IPv6 = false
  SSL = true
</Listener>
<User one>
  Admin = true
  Pass = plain#word
</User>
"""}, "znc -f -d $home", (connects(), client(
        "curl -q -sS --noproxy * --cacert $key/certificate.pem https://localhost:$port/", "ZNC")),
        ("znc --makepem -d $home",), as_other=True),
    "dovecot": Daemon(["sh", "-c", "[ $(id -u) = 0 ] && dovecot --version"], {"dovecot.conf": """
protocols = imap
base_dir = $home/run
import_environment = $$import_environment OPENSSL_CONF LANECRYPT_AES_FORM
log_path = /dev/stderr
listen = 127.0.0.1
ssl = required
ssl_cert = <$key/certificate.pem
ssl_key = <$key/key.pem
first_valid_uid = 1
mail_location = maildir:~/mail
passdb {
  driver = static
  args = password=word
}
userdb {
  driver = static
  args = uid=$user gid=$user home=$home/mail
}
service imap-login {
  service_count = 0
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = $port
  }
}
""", "mail/empty": ""}, "dovecot -F -c $home/dovecot.conf", (connects(), reads_mail),
                      ("chown $user $home/mail", "doveconf -n -c $home/dovecot.conf"),
                      # imap-login's root is a folder of its own.
                      counts=False),
    "postfix": Daemon(["sh", "-c", "[ $(id -u) = 0 ] && postconf -d mail_version"], {"main.cf": """
compatibility_level = 3.6
queue_directory = $home/spool
data_directory = $home/data
import_environment = MAIL_CONFIG MAIL_LOGTAG TZ LANG=C OPENSSL_CONF LANECRYPT_AES_FORM
maillog_file_prefixes = /dev/stdout
maillog_file = /dev/stdout
myhostname = localhost
mydestination =
mynetworks = 127.0.0.0/8
inet_protocols = ipv4
inet_interfaces = 127.0.0.1
alias_maps =
relayhost = [127.0.0.1]:$port2
max_use = 1
smtp_tls_security_level = secure
smtp_tls_CAfile = $key/certificate.pem
smtp_tls_secure_cert_match = localhost
smtpd_tls_security_level = may
smtpd_tls_cert_file = $key/certificate.pem
smtpd_tls_key_file = $key/key.pem
smtpd_relay_restrictions = permit_mynetworks, reject
""", "master.cf": """
127.0.0.1:$port inet n - n - - smtpd
127.0.0.1:$port2 inet n - n - - smtpd -o content_filter=discard:x -o myhostname=second.localhost
smtp unix - - n - - smtp
discard unix - - n - - discard
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
retry unix - - n - - error
tlsmgr unix - - n 1000? 1 tlsmgr
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
""", "data/empty": "", "spool/empty": ""}, "/usr/lib/postfix/sbin/master -c $home -s",
        (connects("-starttls", "smtp"), sends_mail),
        ("chown postfix $home/data", "postfix -c $home check"), statuses=(-signal.SIGTERM,)),
    "named": Daemon(["named", "-v"], {"named.conf": """
tls here { cert-file "$key/certificate.pem"; key-file "$key/key.pem"; };
dnssec-policy rsa { keys { csk lifetime unlimited algorithm rsasha256 2048; }; };
options {
  directory "$home";
  pid-file none;
  session-keyfile none;
  listen-on port $port tls here { 127.0.0.1; };
  listen-on-v6 { none; };
  recursion no;
};
controls { };
zone "example" { type primary; file "zone"; dnssec-policy rsa; inline-signing yes; };
""", "zone": ZONE, "keys/empty": ""}, "named -g -n 2 -c $home/named.conf",
        (connects(), client("dig @127.0.0.1 -p $port +tls +dnssec a.example A", "192.0.2.1", "RRSIG")),
        ("named-checkconf -z $home/named.conf",
         "dnssec-keygen -q -a RSASHA256 -b 2048 -K $home/keys example",
         "dnssec-keygen -q -a RSASHA256 -b 2048 -f KSK -K $home/keys example",
         "dnssec-signzone -q -S -P -K $home/keys -o example -f $home/signed $home/zone",
         "dnssec-verify -q -o example $home/signed")),
    "unbound": Daemon(["unbound", "-V"], {"unbound.conf": """
server:
  interface: 127.0.0.1@$port
  tls-port: $port
  tls-service-key: "$key/key.pem"
  tls-service-pem: "$key/certificate.pem"
  num-threads: 2
  chroot: ""
  username: ""
  directory: "$home"
  pidfile: ""
  use-syslog: no
  local-data: "a.example. A 192.0.2.1"
"""}, "unbound -d -c $home/unbound.conf",
        (connects(), client("dig @127.0.0.1 -p $port +tls a.example A", "192.0.2.1")),
        ("unbound-checkconf $home/unbound.conf",)),
    "dnsdist": Daemon(["dnsdist", "--version"], {"dnsdist.conf": """
setLocal("127.0.0.1:$port2")
addTLSLocal("127.0.0.1:$port", "$key/certificate.pem", "$key/key.pem")
addAction(AllRule(), SpoofAction("192.0.2.1"))
"""}, "dnsdist --supervised --disable-syslog -C $home/dnsdist.conf",
        (connects(), client("dig @127.0.0.1 -p $port +tls a.example A", "192.0.2.1")),
        ("dnsdist --check-config -C $home/dnsdist.conf",), statuses=(0, -signal.SIGTERM)),
    "pdns": Daemon(["pdnsutil", "--version"], {"pdns.conf": """
launch=bind
bind-config=$home/named.conf
bind-dnssec-db=$home/keys.db
local-address=127.0.0.1
local-port=$port
socket-dir=$home
zone-cache-refresh-interval=0
""", "named.conf": 'zone "example" { type master; file "$home/zone"; };', "zone": ZONE},
        "pdns_server --config-dir=$home --daemon=no --guardian=no --disable-syslog",
        (client("dig @127.0.0.1 -p $port +tcp +dnssec a.example A", "192.0.2.1", "RRSIG"),),
        # It signs by the old RSA calls, which no provider serves.
        counts=False, first=("pdnsutil --config-dir=$home create-bind-db $home/keys.db",
         "pdnsutil --config-dir=$home add-zone-key example ksk 2048 active rsasha256",
         "pdnsutil --config-dir=$home add-zone-key example zsk 2048 active rsasha256",
         "pdnsutil --config-dir=$home check-zone example"), statuses=(0, -signal.SIGTERM)),
    "icinga2": Daemon(["icinga2", "--version"], {"icinga2.conf": """
const NodeName = "localhost"
object Endpoint "localhost" { }
object Zone "localhost" { endpoints = [ "localhost" ] }
object ApiListener "api" {
  bind_host = "127.0.0.1"
  bind_port = $port
}
""", "certs/empty": "", "log/empty": ""}, f"{ICINGA2} daemon -c $home/icinga2.conf {ICINGA2_FOLDERS}", (connects(),),
                      (f"{ICINGA2} pki new-cert --cn localhost --key $home/new.pem --csr $home/new.csr "
                       "--cert $home/new.crt",
                       "openssl req -in $home/new.csr -verify -noout",
                       f"{ICINGA2} pki verify --cn localhost --cert $home/new.crt",
                       "cp $key/key.pem $home/certs/localhost.key",
                       "cp $key/certificate.pem $home/certs/localhost.crt",
                       "cp $key/certificate.pem $home/certs/ca.crt",
                       f"{ICINGA2} daemon -C -c $home/icinga2.conf {ICINGA2_FOLDERS}"),
                      # It ends by _exit().
                      counts=False),
    # The client ends after 3 seconds.
    "openvpn": Daemon(["sh", "-c", "openvpn --version | head -1"], {},
                      "openvpn --dev null --verb 3 --proto tcp-server --port $port --local 127.0.0.1 --tls-server "
                      "--dh none --ca $key/certificate.pem --cert $key/certificate.pem --key $key/key.pem "
                      "--ping 1 --data-ciphers AES-256-GCM",
                      (client("openvpn --dev null --verb 3 --proto tcp-client --remote 127.0.0.1 --port $port "
                              "--tls-client --ca $key/certificate.pem --cert $key/certificate.pem "
                              "--key $key/key.pem --verify-x509-name localhost name --ping 1 "
                              "--data-ciphers AES-256-GCM --inactive 3 1000000 --connect-retry 1",
                              "Initialization Sequence Completed"),),
                      ("openvpn --genkey secret $home/secret",
                       "openvpn --test-crypto --secret $home/secret --cipher AES-256-CBC")),
    "mosquitto": Daemon(["sh", "-c", "mosquitto -h | head -1"], {"mosquitto.conf": """
listener $port 127.0.0.1
certfile $key/certificate.pem
keyfile $key/key.pem
allow_anonymous true
"""}, "mosquitto -c $home/mosquitto.conf",
        (connects(), client("mosquitto_pub -h localhost -p $port --cafile $key/certificate.pem -t one -r "
                            "-f $key/public.pem"),
         client("mosquitto_sub -h localhost -p $port --cafile $key/certificate.pem -t one -C 1",
                "BEGIN PUBLIC KEY")), as_other=True),
    "redis": Daemon(["redis-server", "--version"], {"redis.conf": """
bind 127.0.0.1
port 0
tls-port $port
tls-cert-file $key/certificate.pem
tls-key-file $key/key.pem
tls-auth-clients no
save ""
dir $home
"""}, "redis-server $home/redis.conf",
        (connects(), client("redis-cli --tls --cacert $key/certificate.pem -h localhost -p $port set a word",
                            "OK"),
         client("redis-cli --tls --cacert $key/certificate.pem -h localhost -p $port get a", "word"))),
    "memcached": Daemon(["memcached", "--version"], {}, "memcached -l 127.0.0.1 -p $port -U 0 -Z "
                        "-o ssl_chain_cert=$key/certificate.pem,ssl_key=$key/key.pem",
                        (connects(),), as_other=True),
    "mariadb": Daemon(["mariadbd", "--version"], {},
                      "mariadbd --no-defaults --log-warnings=1 --user=$me --datadir=$home/data --port=$port "
                      "--bind-address=127.0.0.1 --socket=$home/socket --ssl-cert=$key/certificate.pem "
                      "--ssl-key=$key/key.pem",
                      (connects("-starttls", "mysql"), client(
                          "mariadb --no-defaults --ssl-ca=$key/certificate.pem --ssl-verify-server-cert "
                          "--protocol=tcp -h localhost -P $port -u root -N -e \"show status like 'Ssl_version'; "
                          "select aes_decrypt(aes_encrypt(repeat('word', 9999), 'key'), 'key')\"",
                          "TLSv1.3", "wordword")),
                      ("mariadb-install-db --no-defaults --user=$me --datadir=$home/data "
                       "--auth-root-authentication-method=normal --skip-test-db",)),
}


def serve_one(daemon):
    def work(stage):
        home = stage.folder / "home"
        with origin(stage) as behind:
            names = {"home": home, "key": stage.key, "port": free_port(), "port2": free_port(),
                     "behind": behind, "user": other_user() or os.getuid(), "me": getpass.getuser()}
            for file, text in daemon.files.items():
                (home / file).parent.mkdir(parents=True, exist_ok=True)
                (home / file).write_text(fill(text, names))
            home.mkdir(exist_ok=True)
            user = other_user() if daemon.as_other else None
            if user:
                for path in (home, *home.rglob("*")):
                    shutil.chown(path, user)
            for command in daemon.first:
                stage.run(*words(command, names), user=user)
            server = stage.start(*words(daemon.start, names), user=user)
            wait_for(names["port"], server)
            for use in daemon.use:
                use(stage, names)
            crashed = [line for line in stage.log().splitlines() if any(c in line for c in CRASHES)]
            expect(not crashed, f"a process crashed: {crashed[:1]}")
            if stage.way != "plain":
                expect(any(f"/{OURS}" in read(f"/proc/{process}/maps") for process in
                           (server.pid, *descendants(server.pid))), "the server lacks the provider")
            stage.end(server, daemon.by, daemon.statuses)
    return work
