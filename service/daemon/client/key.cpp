// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/key.h"

#include <algorithm>

#include "service/daemon/client/session.h"
#include "service/daemon/limits.h"
#include "service/daemon/report/counters.h"
#include "service/daemon/service.h"

namespace lanecrypt::service::daemon {
namespace {

// Returns the kind of operation of a key. For RSA, its size is the length of the modulus itself,
// not that of the input.
OperationKind operation_kind_of(const KeyUse &use) {
  if (use.operation_kind.family != Family::kRsa) return use.operation_kind;
  return {Family::kRsa, bits_of((*use.parts)[kN])};
}

}  // namespace

uint32_t Key::charged_bits_of(const KeyUse &use) {
  if (use.operation_kind.family != Family::kRsa) return 0;
  const KeyParts &parts = *use.parts;
  return daemon::charged_bits(bits_of(parts[kN]), std::max(bits_of(parts[kP]), bits_of(parts[kQ])));
}

Key::Key(std::shared_ptr<Session> its_session, const KeyUse &use, Quotas quotas, Counters &counters)
    : session(std::move(its_session)),
      number(use.number),
      quotas_(std::move(quotas)),
      counters_(counters),
      operation_kind_(operation_kind_of(use)),
      charged_bits_(charged_bits_of(use)),
      output_bytes_(use.output_bytes),
      parts_(*use.parts) {
  counters_.keys.fetch_add(1, std::memory_order_relaxed);
}

Key::~Key() { counters_.keys.fetch_sub(1, std::memory_order_relaxed); }

bool Key::check() {
  checked_ = session->service().library_keys.get(operation_kind_, parts_.parts());
  return checked_ != nullptr && !checked_->is_at_fault();
}

}  // namespace lanecrypt::service::daemon
