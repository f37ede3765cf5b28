// Clients of a TLS server: concurrent connections, each of which does a full handshake, closes
// and starts again. No session is resumed. OpenSSL runs without any configuration.
//
// Usage: handshake_client port=N [tls=1.2|1.3] [connections=N] [get=PATH [answer=TEXT]]
//            [starttls=postgres] [ca=FILE]
//   get       after each handshake, requests this path by HTTP. The answer must have the status
//             200 and contain TEXT
//   starttls  how the client asks the server to start TLS
//   ca        the CA that must have signed the server's certificate for `localhost`
//
// Uses the protocol of windows.h and prints one line of JSON per window.
//
// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/service/windows.h"

namespace lanecrypt::bench {
namespace {

// A connection that takes longer counts as stuck.
constexpr uint64_t kMostNs = 30'000'000'000;
constexpr size_t kMostReasons = 200;
constexpr int kLookMs = 100;

[[noreturn]] void fail(const char *what) {
  fprintf(stderr, "handshake_client: %s\n", what);
  ERR_print_errors_fp(stderr);
  exit(1);
}

struct Options {
  uint16_t port = 0;
  size_t connections = 1;
  std::string request, answer;
  bool asks_postgres = false;
};

enum class Step { kConnect, kAsk, kAllowed, kHandshake, kRequest, kAnswer };

struct Connection {
  int socket = -1;
  SSL *ssl = nullptr;
  Step step = Step::kConnect;
  uint64_t began_ns = 0, shook_ns = 0;
  std::string got;
};

struct Failed {
  uint64_t at_ns;
  std::string why;
};

class Visitors {
 public:
  Visitors(const Options &options, SSL_CTX *tls)
      : options_(options),
        tls_(tls),
        connections_(options.connections),
        events_(epoll_create1(EPOLL_CLOEXEC)) {}

  std::string visit(const Window &window) {
    window_ = window;
    operations_ = failures_ = all_ = 0;
    latencies_ = {};
    reasons_.clear();
    resting_.clear();
    double cpu_at_begin = -1, cpu = 0;
    for (Connection &connection : connections_) begin(connection);
    std::vector<epoll_event> ready(connections_.size());
    while (open_ > 0 || (!resting_.empty() && now_ns() < window.end_ns)) {
      const int number = epoll_wait(events_, ready.data(), int(ready.size()), kLookMs);
      const uint64_t now = now_ns();
      if (cpu_at_begin < 0 && now >= window.begin_ns) cpu_at_begin = cpu_seconds();
      if (now < window.end_ns) cpu = cpu_seconds();
      for (int n = 0; n < number; ++n) go_on(*static_cast<Connection *>(ready[size_t(n)].data.ptr));
      if (now - looked_ns_ > kLookMs * 1'000'000) end_late(now);
    }
    return json(std::max(0.0, cpu - std::max(0.0, cpu_at_begin)));
  }

 private:
  void begin(Connection &connection) {
    connection.began_ns = now_ns();
    if (connection.began_ns >= window_.end_ns) return;
    connection.step = Step::kConnect;
    connection.got.clear();
    connection.socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection.socket < 0) fail("the system gives no socket");
    const int on = 1;
    // Closes the connection by a reset. Otherwise the port would stay in TIME_WAIT for a minute.
    const linger reset{1, 0};
    setsockopt(connection.socket, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.ptr = &connection;
    if (epoll_ctl(events_, EPOLL_CTL_ADD, connection.socket, &event) != 0) fail("cannot wait");
    connection.ssl = SSL_new(tls_);
    if (connection.ssl == nullptr || SSL_set_fd(connection.ssl, connection.socket) != 1 ||
        SSL_set1_host(connection.ssl, "localhost") != 1)
      fail("OpenSSL gives no connection");
    ++open_;
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(options_.port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(connection.socket, reinterpret_cast<sockaddr *>(&server), sizeof server) != 0 &&
        errno != EINPROGRESS)
      end(connection, strerror(errno));
  }

  // Ends this connection. `why` is what went wrong, or nullptr. After a success the next
  // connection begins at once, after a failure a while later.
  void end(Connection &connection, const char *why) {
    const uint64_t now = now_ns();
    ++all_;
    if (why != nullptr) {
      ++failures_;
      if (reasons_.size() < kMostReasons) reasons_.push_back({now, why});
    } else if (window_.holds(now)) {
      ++operations_;
      if (connection.began_ns >= window_.begin_ns)
        latencies_.add(connection.shook_ns - connection.began_ns);
    }
    SSL_free(connection.ssl);
    close(connection.socket);
    connection.socket = -1;
    --open_;
    ERR_clear_error();
    if (why != nullptr) {
      // A server that refuses one connection now would refuse thousands if each were retried at
      // once.
      connection.began_ns = now;
      resting_.push_back(&connection);
    } else {
      begin(connection);
    }
  }

  void go_on(Connection &connection) {
    // Each step leads to the next one, to a wait, or to the end of the connection.
    while (connection.socket >= 0) {
      const char *why = nullptr;
      const uint64_t visit = connection.began_ns;
      const bool goes_on = take(connection, &why);
      if (why != nullptr) return end(connection, why);
      if (!goes_on || visit != connection.began_ns) return;
    }
  }

  // Runs one step. Returns false if the connection waits or has ended.
  bool take(Connection &connection, const char **why) {
    switch (connection.step) {
      case Step::kConnect:
        return connected(connection, why);
      case Step::kAsk: {
        // PostgreSQL's SSLRequest: the length 8 and the code 80877103.
        static const uint8_t kAsk[] = {0, 0, 0, 8, 4, 210, 22, 47};
        if (send(connection.socket, kAsk, sizeof kAsk, MSG_NOSIGNAL) != ssize_t(sizeof kAsk))
          *why = "cannot ask for TLS";
        connection.step = Step::kAllowed;
        return true;
      }
      case Step::kAllowed: {
        char allowed = 0;
        const ssize_t bytes = recv(connection.socket, &allowed, 1, 0);
        if (bytes < 0 && errno == EAGAIN) return false;
        if (bytes != 1 || allowed != 'S') *why = "the server wants no TLS";
        connection.step = Step::kHandshake;
        return true;
      }
      case Step::kHandshake:
        return done(connection, SSL_connect(connection.ssl), why) && shook(connection);
      case Step::kRequest:
        if (!done(connection,
                  SSL_write(connection.ssl, options_.request.data(), int(options_.request.size())),
                  why))
          return false;
        connection.step = Step::kAnswer;
        return true;
      case Step::kAnswer:
        return answered(connection, why);
    }
    return false;
  }

  bool connected(Connection &connection, const char **why) {
    int error = 0;
    socklen_t bytes = sizeof error;
    getsockopt(connection.socket, SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0) {
      *why = strerror(error);
      return false;
    }
    sockaddr_in peer{};
    bytes = sizeof peer;
    if (getpeername(connection.socket, reinterpret_cast<sockaddr *>(&peer), &bytes) != 0)
      return false;
    connection.step = options_.asks_postgres ? Step::kAsk : Step::kHandshake;
    return true;
  }

  // Returns whether a call of OpenSSL has finished. If not, the connection waits, or `*why` says
  // what went wrong.
  bool done(Connection &connection, int result, const char **why) {
    if (result > 0) return true;
    const int error = SSL_get_error(connection.ssl, result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return false;
    const unsigned long reason = ERR_peek_last_error();
    if (error == SSL_ERROR_SSL && reason != 0)
      *why = ERR_reason_error_string(reason);
    else
      *why = errno == ECONNRESET ? "reset" : "closed";
    if (*why == nullptr) *why = "an error of OpenSSL";
    return false;
  }

  bool shook(Connection &connection) {
    connection.shook_ns = now_ns();
    connection.step = Step::kRequest;
    if (!options_.request.empty()) return true;
    end(connection, nullptr);
    return false;
  }

  bool answered(Connection &connection, const char **why) {
    char piece[4096];
    const int bytes = SSL_read(connection.ssl, piece, sizeof piece);
    if (!done(connection, bytes, why)) return false;
    connection.got.append(piece, size_t(bytes));
    const bool is_whole = connection.got.find(options_.answer) != std::string::npos &&
                          connection.got.find("\r\n\r\n") != std::string::npos;
    if (!is_whole && connection.got.size() < sizeof piece) return true;
    const size_t status = connection.got.find(" 200 ");
    if (!is_whole || status > 10)
      *why = "another answer";
    else
      end(connection, nullptr);
    return false;
  }

  // Ends connections that take too long, and restarts those that failed a while ago.
  void end_late(uint64_t now) {
    looked_ns_ = now;
    for (Connection &connection : connections_)
      if (connection.socket >= 0 && now > connection.began_ns + kMostNs)
        end(connection, "took too long");
    std::vector<Connection *> rested;
    rested.swap(resting_);
    for (Connection *connection : rested) begin(*connection);
  }

  std::string json(double cpu) const {
    char text[200];
    snprintf(text, sizeof text,
             "{\"operations\": %llu, \"failures\": %llu, \"all\": %llu, \"cpu_seconds\": %.6f",
             (unsigned long long)operations_, (unsigned long long)failures_,
             (unsigned long long)all_, cpu);
    std::string reasons;
    for (const Failed &failed : reasons_)
      reasons += (reasons.empty() ? "[" : ", [") + std::to_string(failed.at_ns) + ", \"" +
                 failed.why + "\"]";
    return text + (", \"reasons\": [" + reasons + "], \"latencies\": ") + latencies_.json() + "}";
  }

  const Options options_;
  SSL_CTX *const tls_;
  std::vector<Connection> connections_;
  std::vector<Connection *> resting_;
  const int events_;
  size_t open_ = 0;
  Window window_;
  uint64_t operations_ = 0, failures_ = 0, all_ = 0, looked_ns_ = 0;
  Latencies latencies_;
  std::vector<Failed> reasons_;
};

SSL_CTX *tls_of(const std::string &version, const std::string &ca) {
  SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
  if (tls == nullptr) fail("OpenSSL has no TLS");
  const int number = version == "1.2" ? TLS1_2_VERSION : TLS1_3_VERSION;
  SSL_CTX_set_min_proto_version(tls, number);
  SSL_CTX_set_max_proto_version(tls, number);
  SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(tls, SSL_OP_NO_TICKET);
  if (SSL_CTX_set_cipher_list(tls, "ECDHE-RSA-AES128-GCM-SHA256") != 1 ||
      SSL_CTX_set_ciphersuites(tls, "TLS_AES_128_GCM_SHA256") != 1 ||
      SSL_CTX_set1_groups_list(tls, "X25519:P-256") != 1)
    fail("OpenSSL has not the algorithms");
  if (!ca.empty()) {
    if (SSL_CTX_load_verify_locations(tls, ca.c_str(), nullptr) != 1) fail("cannot read `ca`");
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, nullptr);
  }
  return tls;
}

}  // namespace
}  // namespace lanecrypt::bench

int main(int count, char **words) {
  using namespace lanecrypt::bench;
  std::map<std::string, std::string> values = words_of(count, words);
  // Ignores the program's configuration, since a provider configured there would also serve the
  // clients.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  // OpenSSL writes to sockets that a killed worker has closed.
  (void)signal(SIGPIPE, SIG_IGN);
  raise_file_limit();
  Options options;
  options.port = uint16_t(atoi(values["port"].c_str()));
  options.connections = size_t(std::max(1, atoi(values["connections"].c_str())));
  options.asks_postgres = values["starttls"] == "postgres";
  options.answer = values["answer"];
  if (!values["get"].empty())
    options.request = "GET " + values["get"] + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  Visitors visitors(options, tls_of(values["tls"], values["ca"]));
  return serve_windows([&](const Window &window) { return visitors.visit(window); });
}
