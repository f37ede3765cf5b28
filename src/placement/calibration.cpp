// SPDX-License-Identifier: Apache-2.0
#include "placement/calibration.h"

#include <algorithm>
#include <fstream>
#include <istream>
#include <sstream>

#include "cache/file_cache.h"
#include "cpu/core_count.h"
#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::placement {
namespace {

constexpr char kFolder[] = "tune";
// The first line of the file. If it differs, the form, the version or the number of modes that
// there were is another, and the device is measured anew.
const std::string &title() {
  static const std::string text = "lanecrypt calibration 4 of " LC_VERSION_TEXT ", " +
                                  std::to_string(kCipherInfoCount) + " modes";
  return text;
}
constexpr size_t kMostPoints = 4096;
// No call takes an hour, and a sum of a few such numbers fits into 64 bits.
constexpr uint64_t kMostNs = 3600ull * 1000 * 1000 * 1000, kMostBytes = 1ull << 40;

std::string key_of(const std::string &machine, const std::string &device) {
  return title() + "\n" + machine + "\n" + device;
}

// Makes one line of a text, whatever a driver calls its card.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

bool read_line(std::istream &stream, const std::string &label, std::string *value) {
  std::string line;
  if (!std::getline(stream, line) || !line.starts_with(label + " ")) return false;
  *value = line.substr(label.size() + 1);
  return true;
}

// The mode's name. For block ciphers other than AES it also names the cipher.
std::string name_of(const CipherInfo &info) {
  const bool is_told = info.block != nullptr && info.block != kBlockCiphers;
  return (is_told ? std::string(info.block->name) + "_" : std::string()) + info.name;
}

std::optional<Point> read_point(const std::string &line) {
  std::istringstream stream(line);
  std::string cipher, direction, memory, rest;
  Point point = {};
  // `>>` reads -1 as a large number.
  if (line.find('-') != std::string::npos) return std::nullopt;
  if (!(stream >> cipher >> direction >> point.kind.key_bytes >> memory >> point.streams >>
        point.bytes >> point.device_ns >> point.device_cpu_ns >> point.cpu_ns >> point.cores_ns) ||
      stream >> rest)
    return std::nullopt;
  const auto info = std::find_if(std::begin(kCipherInfos), std::end(kCipherInfos),
                                 [&](const CipherInfo &one) { return cipher == name_of(one); });
  if (info == std::end(kCipherInfos) || !info->takes_key(point.kind.key_bytes)) return std::nullopt;
  point.kind.cipher = info->cipher;
  if (direction != "encrypt" && direction != "decrypt") return std::nullopt;
  point.kind.direction = direction == "encrypt" ? LC_ENCRYPT : LC_DECRYPT;
  if (memory != "pinned" && memory != "ordinary") return std::nullopt;
  point.pinned = memory == "pinned";
  if (point.streams == 0 || point.bytes == 0 || point.bytes > kMostBytes) return std::nullopt;
  for (const uint64_t ns : {point.device_ns, point.device_cpu_ns, point.cpu_ns, point.cores_ns})
    if (ns > kMostNs) return std::nullopt;
  return point;
}

}  // namespace

std::string describe_machine() {
  std::string model = "unknown";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (const size_t colon = line.find(": ");
        line.starts_with("model name") && colon != std::string::npos) {
      model = line.substr(colon + 2);
      break;
    }
  const unsigned cores = cpu::usable_cores();
  return one_line(model + ", " + std::to_string(cores) + (cores == 1 ? " core" : " cores"));
}

std::string to_text(const Calibration &calibration) {
  std::ostringstream text;
  text << title() << "\nmachine " << one_line(calibration.machine) << "\ndevice "
       << one_line(calibration.device) << "\ndepth " << (calibration.is_quick ? "quick" : "full")
       << "\n";
  for (const Point &point : calibration.points)
    text << name_of(point.kind.info()) << ' '
         << (point.kind.direction == LC_ENCRYPT ? "encrypt" : "decrypt") << ' '
         << point.kind.key_bytes << ' ' << (point.pinned ? "pinned" : "ordinary") << ' '
         << point.streams << ' ' << point.bytes << ' ' << point.device_ns << ' '
         << point.device_cpu_ns << ' ' << point.cpu_ns << ' ' << point.cores_ns << '\n';
  return text.str();
}

std::optional<Calibration> from_text(const std::string &text) {
  std::istringstream stream(text);
  std::string line, depth;
  Calibration calibration;
  if (!std::getline(stream, line) || line != title() ||
      !read_line(stream, "machine", &calibration.machine) ||
      !read_line(stream, "device", &calibration.device) || !read_line(stream, "depth", &depth) ||
      (depth != "quick" && depth != "full"))
    return std::nullopt;
  calibration.is_quick = depth == "quick";
  while (std::getline(stream, line)) {
    const std::optional<Point> point = read_point(line);
    if (!point || calibration.points.size() == kMostPoints) return std::nullopt;
    calibration.points.push_back(*point);
  }
  return calibration;
}

std::optional<Calibration> load(const std::string &machine, const std::string &device) {
  const std::optional<std::string> text = cache::load(kFolder, key_of(machine, device));
  return text ? from_text(*text) : std::nullopt;
}

void store(const Calibration &calibration) {
  cache::store(kFolder, key_of(calibration.machine, calibration.device), to_text(calibration));
}

}  // namespace lanecrypt::placement
