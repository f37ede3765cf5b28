// SPDX-License-Identifier: Apache-2.0
#include "device/device_enumeration.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cache/file_cache.h"
#include "lanecrypt/lanecrypt.h"
#include "process/privilege.h"
#include "process/program.h"

namespace lanecrypt::device {
namespace {

using process::Program;

constexpr char kCacheFolder[] = "devices";
// How long, in seconds, an API that has no device, or whose probe failed, is not probed again.
// After that it is, since a driver may not have been ready, or a process may have had too little
// memory for it.
constexpr int64_t kNoneSeconds = 600;
constexpr char kFailed[] = "failed", kNone[] = "none ";

// Environment variables with these prefixes change what drivers report.
constexpr const char *kVariables[] = {
    "CUDA_", "NVIDIA_", "OCL_", "OPENCL_",  "POCL_", "MESA_", "LIBGL_",     "GALLIUM_", "EGL_",
    "__EGL", "__GLX",   "LD_",  "DISPLAY=", "XDG_",  "ROCR_", "HIP_",       "HSA_",     "GPU_",
    "NEO_",  "ONEAPI_", "DRI_", "WAYLAND_", "LP_",   "ZE_",   "LANECRYPT_", "INTEL_",   "AMD_"};

std::string contents_of(const char *path) {
  char text[512];
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return "";
  const ssize_t bytes = ::read(file, text, sizeof text);
  close(file);
  return bytes > 0 ? std::string(text, static_cast<size_t>(bytes)) : "";
}

// Identifies the file at a path: device, inode, size and modification time.
std::string stamp_of(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return path + " -\n";
  return path + " " + std::to_string(info.st_dev) + " " + std::to_string(info.st_ino) + " " +
         std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec) + "." +
         std::to_string(info.st_mtim.tv_nsec) + "\n";
}

// Lists the device nodes in a folder by which GPUs are reached, and whether this process may use
// them.
std::string nodes_of(const std::string &folder, const char *beginning) {
  std::vector<std::string> names;
  if (DIR *open_folder = opendir(folder.c_str()); open_folder != nullptr) {
    while (const dirent *entry = readdir(open_folder)) {
      const std::string name = entry->d_name;
      if (name.starts_with(beginning) && name[0] != '.')
        names.push_back(name +
                        (access((folder + "/" + name).c_str(), R_OK | W_OK) == 0 ? "+" : "-"));
    }
    closedir(open_folder);
  }
  std::sort(names.begin(), names.end());
  std::string text = folder;
  for (const std::string &name : names) text += " " + name;
  return text + "\n";
}

// The path of the library, or of the program, that contains this code; "" if it cannot be
// determined. It is determined at load time, since the name may be relative to the folder that was
// current then.
const std::string *const own_path = [] {
  Dl_info info;
  const char *name = nullptr;
  if (dladdr(reinterpret_cast<const void *>(&contents_of), &info) != 0) name = info.dli_fname;
  // dladdr() reports no folder for a program that was started by a name without one.
  if (name == nullptr || std::strchr(name, '/') == nullptr) name = "/proc/self/exe";
  char *const whole = realpath(name, nullptr);
  auto *const path = new std::string(whole == nullptr ? "" : whole);
  std::free(whole);
  return path;
}();

// Finds lanecrypt-probe near the library or program that contains this code; "" if it is not there.
std::string find_probe() {
  std::string here = *own_path;
  if (here.empty()) return "";
  here.resize(here.rfind('/') + 1);
  for (const char *place : {"lanecrypt/lanecrypt-probe", "../lib/lanecrypt/lanecrypt-probe"})
    if (access((here + place).c_str(), X_OK) == 0) return here + place;
  return "";
}

// Returns the cache key: everything that the devices of `api` depend on.
std::string key_of(const std::string &api, const std::string &probe) {
  std::string key = std::string(LC_VERSION_TEXT) + " " + api + "\n" + stamp_of(probe) +
                    contents_of("/proc/sys/kernel/random/boot_id") +
                    contents_of("/proc/driver/nvidia/version") + stamp_of("/etc/ld.so.cache") +
                    stamp_of("/etc/OpenCL/vendors") + stamp_of("/usr/share/glvnd/egl_vendor.d") +
                    nodes_of("/dev", "nvidia") + nodes_of("/dev/dri", "render") +
                    nodes_of("/dev", "kfd");
  std::vector<std::string> variables;
  for (char **entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    for (const char *beginning : kVariables)
      if (std::strncmp(*entry, beginning, std::strlen(beginning)) == 0)
        variables.emplace_back(*entry);
  std::sort(variables.begin(), variables.end());
  for (const std::string &variable : variables) key += variable + "\n";
  return key;
}

Result<std::unique_ptr<Device>> open_here(const Properties &wanted, KernelSet set) {
  for (const Found &found : find_here(wanted.api))
    if (found.properties.id == wanted.id && found.properties.name == wanted.name)
      return found.open(set);
  const std::string why = why_none_here(wanted.api);
  return Status(LC_ERROR_NO_DEVICE, why.empty() ? "it is not here any more" : why);
}

}  // namespace

// The enumeration of one API: the known answer, or the probe that is running.
struct DeviceEnumerator::Question {
  std::string api, key;
  std::unique_ptr<Program> program;
  // As the probe writes it and the cache stores it: the devices, or kNone and the reason.
  std::string answer;

  bool is_open() const { return program != nullptr; }

  void ask() {
    if (api == "host") {
      hear_from_here();
      return;
    }
    key = key_of(api, find_probe());
    if (const auto kept = cache::load(kCacheFolder, key); kept && take_kept(*kept)) return;
    std::string why;
    program = start_probe({"look", api}, &why);
    if (program == nullptr) answer = kNone + why;
  }

  // Enumerates in this process; the emulator has no driver that could hang.
  void hear_from_here() {
    std::vector<Properties> all;
    for (const Found &found : find_here(api)) all.push_back(found.properties);
    answer = all.empty() ? kNone + why_none_here(api) : to_text(all);
  }

  // Stores the answer, preceded by the current time, and loads a stored one.
  void keep() { cache::store(kCacheFolder, key, std::to_string(time(nullptr)) + "\n" + answer); }
  bool take_kept(const std::string &kept) {
    const size_t line = kept.find('\n');
    if (line == std::string::npos) return false;
    const int64_t age = time(nullptr) - std::strtoll(kept.c_str(), nullptr, 10);
    answer = kept.substr(line + 1);
    std::vector<Properties> all;
    if (from_text(answer, &all)) return true;
    return (answer == kFailed || answer.starts_with(kNone)) && age >= 0 && age < kNoneSeconds;
  }

  // Whether `text` is a valid output of the probe.
  static bool is_good(const std::string &text) {
    std::vector<Properties> all;
    return text.starts_with(kNone) || from_text(text, &all);
  }

  void hear(std::chrono::milliseconds limit) {
    if (!is_open()) return;
    const Program::State state = program->wait(limit);
    if (state == Program::State::kRuns) return;
    answer = program->output();
    if (state == Program::State::kFailed || !is_good(answer)) fail();
    keep();
    program.reset();
  }
  void fail() { answer = kFailed; }

  std::string why_none() const {
    if (answer == kFailed)
      return "the driver of " + api + " hung or crashed when it was asked for its devices";
    return answer.starts_with(kNone) ? answer.substr(std::strlen(kNone)) : "";
  }
};

DeviceEnumerator::DeviceEnumerator(const std::vector<std::string> &apis) {
  if (process::is_setuid()) return;
  for (const std::string &api : apis) {
    questions_.push_back(std::make_unique<Question>());
    questions_.back()->api = api;
    questions_.back()->ask();
  }
}

DeviceEnumerator::~DeviceEnumerator() = default;

bool DeviceEnumerator::wait(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  bool all = true;
  for (const std::unique_ptr<Question> &question : questions_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    question->hear(std::max(left, std::chrono::milliseconds(0)));
    all = all && !question->is_open();
  }
  return all;
}

DeviceEnumeration DeviceEnumerator::take() {
  DeviceEnumeration enumeration;
  for (const std::unique_ptr<Question> &question : questions_) {
    if (question->is_open()) {
      question->fail();
      question->keep();
      question->program.reset();
    }
    std::vector<Properties> all;
    if (question->why_none().empty() && !question->answer.starts_with(kNone))
      (void)from_text(question->answer, &all);
    if (all.empty()) enumeration.why_none[question->api] = question->why_none();
    for (Properties &properties : all) {
      // Ignore devices of another API, which the probe should not have reported.
      if (properties.api != question->api) continue;
      enumeration.found.push_back(
          {properties, [properties](KernelSet set) { return open_here(properties, set); }});
    }
  }
  return enumeration;
}

std::unique_ptr<Program> start_probe(const std::vector<std::string> &words, std::string *why) {
  if (process::is_setuid()) {
    *why = "a program that runs with more rights than its caller uses no device";
    return nullptr;
  }
  const std::string probe = find_probe();
  if (probe.empty()) {
    *why = "lanecrypt-probe, which looks for devices, is not installed";
    return nullptr;
  }
  return Program::start(probe, words, why);
}

DeviceEnumeration enumerate_devices(const std::vector<std::string> &apis) {
  DeviceEnumerator enumerator(apis);
  (void)enumerator.wait(kEnumerationLimit);
  return enumerator.take();
}

}  // namespace lanecrypt::device
