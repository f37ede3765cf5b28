// SPDX-License-Identifier: Apache-2.0
#include "device/gl/settings.h"
#include "process/diagnostics.h"

#include <stdlib.h>

#include <sstream>

namespace lanecrypt::device::gl {
namespace {

struct Word {
  const char *text;
  void (*set)(Settings &);
};

constexpr Word kWords[] = {
    {"shaders=best", [](Settings &s) { s.shaders = Shaders::kBest; }},
    {"shaders=compute", [](Settings &s) { s.shaders = Shaders::kCompute; }},
    {"shaders=fragment", [](Settings &s) { s.shaders = Shaders::kFragment; }},
    {"xor=integer", [](Settings &s) { s.xor_by = Xor::kInteger; }},
    {"xor=table8", [](Settings &s) { s.xor_by = Xor::kTable8; }},
    {"xor=table4", [](Settings &s) { s.xor_by = Xor::kTable4; }},
    {"xor=raster", [](Settings &s) { s.xor_by = Xor::kRaster; }},
    {"gather=multi", [](Settings &s) { s.gather = Gather::kMulti; }},
    {"gather=hgather", [](Settings &s) { s.gather = Gather::kRow; }},
    {"gather=sgather", [](Settings &s) { s.gather = Gather::kSquare; }},
    {"round=rot", [](Settings &s) { s.rotates = true; }},
    {"round=norot", [](Settings &s) { s.rotates = false; }},
};

bool read_word(const std::string &text, Settings &settings) {
  for (const Word &word : kWords) {
    if (text != word.text) continue;
    word.set(settings);
    return true;
  }
  return false;
}

}  // namespace

Result<Settings> read_settings() {
  Settings settings;
  const char *value = process::diagnostic_variable("LANECRYPT_GL");
  if (value == nullptr) return settings;
  std::istringstream list(value);
  for (std::string text; std::getline(list, text, ',');) {
    if (read_word(text, settings)) continue;
    std::string known;
    for (const Word &word : kWords) known += std::string(" ") + word.text;
    return Status(LC_ERROR_ARGUMENT, "LANECRYPT_GL does not know '" + text + "', but" + known +
                                         ", with commas between");
  }
  if (settings.xor_by == Xor::kInteger) return settings;
  if (settings.shaders == Shaders::kCompute)
    return Status(LC_ERROR_ARGUMENT,
                  "LANECRYPT_GL: only fragment shaders XOR by tables or by the "
                  "raster units");
  settings.shaders = Shaders::kFragment;
  return settings;
}

}  // namespace lanecrypt::device::gl
