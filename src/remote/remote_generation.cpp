// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_generation.h"

#include <algorithm>

#include "cpu/random.h"
#include "cpu/rsa/cpu_rsa.h"
#include "cpu/rsa/prime_key.h"
#include "rsa/rsa_kind.h"

namespace lanecrypt::remote {
namespace {

lc_rsa_parts parts_of(const service::KeyParts &from) {
  const auto number = [&](service::KeyPart part) {
    return lc_number{from[part].data(), from[part].size()};
  };
  lc_rsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.n = number(service::kN);
  parts.e = number(service::kE);
  parts.p = number(service::kP);
  parts.q = number(service::kQ);
  parts.dp = number(service::kDp);
  parts.dq = number(service::kDq);
  parts.qinv = number(service::kQinv);
  parts.d = number(service::kD);
  return parts;
}

// Returns the number in `bytes` bytes, with leading zeros, as make_rsa_key() takes primes. Empty if
// there is no memory or the number is longer.
secure::KeyMemory padded(std::span<const uint8_t> number, size_t bytes) {
  secure::KeyMemory memory(bytes);
  if (!memory.ok(bytes) || number.size() > bytes) return secure::KeyMemory();
  std::copy(number.begin(), number.end(), memory.data() + (bytes - number.size()));
  return memory;
}

}  // namespace

// The state of one call. The service makes some of its keys and the CPU the rest.
struct RemoteGeneration::Run {
  RemoteGeneration &self;
  const RsaGeneration wish;
  uint64_t given = 0;  // keys from the service
  bool is_stopped = false;

  bool hear(uint64_t keys) {
    lc_rsa_progress progress{};
    progress.struct_size = sizeof progress;
    progress.keys = keys;
    progress.primes = 2 * keys;
    return hear(progress);
  }
  bool hear(const lc_rsa_progress &progress) {
    is_stopped = wish.on_progress != nullptr && wish.on_progress(wish.argument, &progress) == 0;
    return !is_stopped;
  }

  bool take(const service::KeyParts &numbers) {
    const lc_rsa_parts parts = parts_of(numbers);
    if (!self.is_right(wish, parts)) return false;
    is_stopped = wish.on_key(wish.argument, given++, &parts) == 0;
    return !is_stopped;
  }
};

void RemoteGeneration::stop() {
  cancel_pending();
  cpu_.stop();
  for (unsigned left = checks_; left != 0; left = checks_) checks_.wait(left);
}

// Returns whether the key is one that was requested, and its numbers belong together.
bool RemoteGeneration::is_right(const RsaGeneration &wish, const lc_rsa_parts &parts) {
  struct Check {
    explicit Check(std::atomic<unsigned> &all) : all_(all) { ++all_; }
    ~Check() {
      --all_;
      all_.notify_all();
    }
    std::atomic<unsigned> &all_;
  };
  const Check check(checks_);
  // Either stop() waits for the check, or this sees that it stops.
  if (stopping_) return false;
  Result<std::shared_ptr<RsaKey>> copied = copy_rsa_key(&parts);
  if (!copied.ok()) return false;
  RsaKey &key = **copied;
  if (!key.is_private || key.modulus_bits != wish.bits ||
      !std::ranges::equal(key.numbers.e, wish.exponent) || !cpu::prepare(key).ok())
    return false;
  if (!service_.checks_all) return true;
  // Makes the key from its primes again, as if a device had found them: it must be the same key.
  const uint32_t stride = cpu::prime_stride_bytes(wish.bits / 2);
  const secure::KeyMemory p = padded(key.numbers.p, stride), q = padded(key.numbers.q, stride);
  if (!p.ok(stride) || !q.ok(stride)) return false;
  Result<cpu::MadeKey> made = cpu::make_rsa_key(cpu::random_bytes, wish.bits, wish.exponent,
                                                {p.data(), stride}, {q.data(), stride});
  return made.ok() && made->verdict == cpu::MadeKey::Verdict::kGood &&
         std::ranges::equal(made->key->numbers.n, key.numbers.n);
}

bool RemoteGeneration::prefers_device(uint32_t bits) {
  if (runtime::rsa_kind(bits) == 0) return false;
  client::Connection &connection = service_.client->here();
  if (!connection.choice().is_key_worth_it(bits)) return false;
  std::shared_ptr<client::Session> session = connection.session();
  if (session == nullptr && connection.may_connect()) session = connection.connect(false);
  return session != nullptr && session->page().usable_devices != 0;
}

// Makes keys with the service, as many as it gives.
client::Made RemoteGeneration::by_service(Run &run) {
  const std::shared_ptr<client::Session> session = service_.session();
  if (session == nullptr || session->page().usable_devices == 0) return client::Made::kNot;
  client::NewKeys keys{run.wish.bits, run.wish.exponent, run.wish.count};
  keys.goes_on = [](void *of) {
    Run &its = *static_cast<Run *>(of);
    return !its.self.stopping_ && its.hear(its.given);
  };
  keys.take = [](void *of, const service::KeyParts &parts) {
    return static_cast<Run *>(of)->take(parts);
  };
  keys.argument = &run;
  return client::generate(service_.client->here(), keys);
}

// Makes the remaining keys on the CPU. The numbers of the keys and the progress go on from those of
// the service.
Status RemoteGeneration::by_cpu(Run &run, lc_result *result) {
  RsaGeneration rest = run.wish;
  rest.count -= run.given;
  rest.device = LC_CPU;
  rest.argument = &run;
  rest.on_key = [](void *of, uint64_t number, const lc_rsa_parts *parts) {
    const Run &its = *static_cast<Run *>(of);
    return its.wish.on_key(its.wish.argument, its.given + number, parts);
  };
  rest.on_progress = [](void *of, const lc_rsa_progress *progress) {
    Run &its = *static_cast<Run *>(of);
    lc_rsa_progress all = *progress;
    all.keys += its.given;
    all.primes += 2 * its.given;
    return its.hear(all) ? 1 : 0;
  };
  if (rest.random != nullptr)
    rest.random = [](void *of, void *to, size_t bytes) {
      const RsaGeneration &wish = static_cast<Run *>(of)->wish;
      return wish.random(wish.argument, to, bytes);
    };
  return cpu_.run(std::move(rest), result);
}

Status RemoteGeneration::run(RsaGeneration what, lc_result *result) {
  *result = {};
  if (what.count == 0) return Status();
  Run run{*this, std::move(what)};
  // The service uses its own random generator, so a caller's generator excludes it.
  const bool is_for_service = runtime::rsa_kind(run.wish.bits) != 0 && run.wish.random == nullptr;
  if (!is_for_service && !service_.has_cpu)
    return Status(LC_ERROR_UNSUPPORTED,
                  "the service makes keys of 1024 to 8192 bits, with random numbers of its own");
  const client::Made made = is_for_service ? by_service(run) : client::Made::kNot;
  if (stopping_) return process_ends();
  if (run.is_stopped) return Status(LC_ERROR_STOPPED, "stopped by the caller");
  const bool has_failed = made == client::Made::kFailed;
  const uint64_t bytes = run.given * ((run.wish.bits + 7) / 8);
  Status status;
  if (run.given < run.wish.count)
    status = service_.has_cpu ? by_cpu(run, result) : service_.why_not(has_failed, "make a key");
  result->device_operations += run.given;
  result->service_operations += run.given;
  result->device_bytes += bytes;
  if (has_failed) ++result->failed_devices;
  return status;
}

}  // namespace lanecrypt::remote
