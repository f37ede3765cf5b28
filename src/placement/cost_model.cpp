// SPDX-License-Identifier: Apache-2.0
#include "placement/cost_model.h"

#include <algorithm>

#include "cipher/cpu_worker.h"

namespace lanecrypt::placement {
namespace {

using Field = uint64_t Point::*;

// Reads a curve. Between two points it is a straight line. Before the first point it has that
// point's value, since a call's own time does not shrink. After the last point it goes on as
// before.
uint64_t read(const std::vector<Point> &curve, Field field, uint64_t bytes) {
  if (bytes <= curve.front().bytes || curve.size() == 1) {
    const Point &first = curve.front();
    // One point tells only a rate.
    if (bytes <= first.bytes) return first.*field;
    return static_cast<uint64_t>(static_cast<double>(first.*field) / first.bytes * bytes);
  }
  size_t n = 1;
  while (n + 1 < curve.size() && curve[n].bytes < bytes) ++n;
  const Point &from = curve[n - 1], &to = curve[n];
  // By chance a measured time may be less for more bytes, which cannot be.
  const uint64_t low = from.*field, high = std::max(from.*field, to.*field);
  const double share = static_cast<double>(bytes - from.bytes) / (to.bytes - from.bytes);
  return low + static_cast<uint64_t>(share * static_cast<double>(high - low));
}

// For the CPU the first point is no minimum: it takes nearly no time for no bytes.
uint64_t read_cpu(const std::vector<Point> &curve, uint64_t bytes) {
  const Point &first = curve.front();
  if (bytes >= first.bytes) return read(curve, &Point::cpu_ns, bytes);
  return static_cast<uint64_t>(static_cast<double>(first.cpu_ns) / first.bytes * bytes);
}

uint64_t with_margin(uint64_t ns) { return ns + ns * kMarginPercent / 100; }

}  // namespace

CostModel::CostModel(const Calibration &calibration) {
  for (const Point &point : calibration.points) {
    const auto same = std::find_if(curves_.begin(), curves_.end(), [&](const Curve &curve) {
      const Point &first = curve.front();
      return first.kind == point.kind && first.pinned == point.pinned &&
             (first.streams > 1) == (point.streams > 1);
    });
    Curve &curve = same != curves_.end() ? *same : curves_.emplace_back();
    // If a point was measured twice, the last measurement counts.
    const auto at =
        std::lower_bound(curve.begin(), curve.end(), point.bytes,
                         [](const Point &one, uint64_t bytes) { return one.bytes < bytes; });
    if (at != curve.end() && at->bytes == point.bytes)
      *at = point;
    else
      curve.insert(at, point);
  }
}

// Pinned memory may use the curve of ordinary memory, which is never better. A key may use the
// curve of a shorter one in the same direction. For a device that is near enough. The CPU takes
// longer for a longer key, so its time is estimated too short, never too long.
const CostModel::Curve *CostModel::find(const CipherKind &kind, bool pinned, bool many) const {
  const Curve *exact = find_exact(kind, pinned, many);
  if (exact != nullptr || !kind.info().steals() || kind.is_chain()) return exact;
  // Ciphertext stealing is CBC, except in two blocks.
  return find_exact(kind.as(Mode::kCbc, kind.direction), pinned, many);
}

const CostModel::Curve *CostModel::find_exact(const CipherKind &kind, bool pinned,
                                              bool many) const {
  const Curve *best = nullptr;
  int best_score = 0;
  for (const Curve &curve : curves_) {
    const Point &first = curve.front();
    if (first.kind.cipher != kind.cipher || first.kind.direction != kind.direction) continue;
    if ((first.streams > 1) != many || (first.pinned && !pinned)) continue;
    if (first.kind.key_bytes > kind.key_bytes) continue;
    const int score = 1 + (first.pinned == pinned ? 1 : 0) + static_cast<int>(first.kind.key_bytes);
    if (score > best_score) best = &curve;
    best_score = std::max(best_score, score);
  }
  return best;
}

std::optional<Estimate> CostModel::estimate(const Question &question, const Load &load) const {
  const Curve *one = find(question.kind, question.pinned, false);
  if (one == nullptr || question.streams == 0) return std::nullopt;
  Estimate made = {};
  const Curve *whole = one;
  if (question.kind.is_chain()) {
    // A stream takes as long as its blocks do one after the other, however many streams there
    // are. All together they may fill the device.
    made.device_ns = read(*one, &Point::device_ns, question.bytes / question.streams);
    if (question.streams > 1) {
      whole = find(question.kind, question.pinned, true);
      if (whole == nullptr) return std::nullopt;
    }
  }
  made.device_ns = std::max(made.device_ns, read(*whole, &Point::device_ns, question.bytes));
  made.device_cpu_ns = read(*whole, &Point::device_cpu_ns, question.bytes);
  made.cpu_ns = read_cpu(*one, question.bytes);
  // The bytes that wait before it are done at the rate of large requests.
  const Point &last = whole->back();
  made.device_ns +=
      static_cast<uint64_t>(static_cast<double>(last.device_ns) / last.bytes * load.device_bytes);
  const bool is_for_cores = question.bytes >= runtime::kLeastForCores && !question.pinned;
  if (is_for_cores && !load.cores_are_busy && one->front().cores_ns != 0)
    made.cores_ns = read(*one, &Point::cores_ns, question.bytes);
  return made;
}

lc_choice CostModel::choose(const Question &question, const Load &load, Prefer prefer) const {
  const std::optional<Estimate> made = estimate(question, load);
  if (!made) return LC_CHOICE_CPU;
  const bool offloads = prefer == Prefer::kOffload;
  const bool is_lighter = with_margin(made->device_cpu_ns) < made->cpu_ns;
  if (offloads && is_lighter && made->device_ns <= 2 * made->cpu_ns) return LC_CHOICE_DEVICE;
  if (made->cores_ns == 0 || with_margin(made->cores_ns) >= made->cpu_ns)
    return with_margin(made->device_ns) < made->cpu_ns ? LC_CHOICE_DEVICE : LC_CHOICE_CPU;
  // To offload, a device that takes no less CPU time than several cores must be twice as fast.
  const uint64_t sooner_than = offloads && !is_lighter ? made->cores_ns / 2 : made->cores_ns;
  return with_margin(made->device_ns) < sooner_than ? LC_CHOICE_DEVICE : LC_CHOICE_CORES;
}

std::optional<uint64_t> CostModel::threshold(const CipherKind &kind, bool pinned,
                                             Prefer prefer) const {
  for (uint64_t bytes = 1024; bytes <= uint64_t{1} << 32; bytes *= 2)
    if (choose({kind, pinned, 1, bytes}, {}, prefer) != LC_CHOICE_CPU) return bytes;
  return std::nullopt;
}

}  // namespace lanecrypt::placement
