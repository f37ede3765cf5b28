// SPDX-License-Identifier: Apache-2.0
#include "device/gl/program.h"

namespace lanecrypt::device::gl {
namespace {

// Returns the beginning of the driver's message, which may list every shader.
std::string words(std::string text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  constexpr size_t kMost = 400;
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

}  // namespace

std::string version_line(const Limits &limits, int es, int desktop) {
  return limits.is_desktop ? "#version " + std::to_string(desktop) + " core\n"
                           : "#version " + std::to_string(es) + " es\n";
}

Result<GLuint> link_program(Session &session, const std::string &name, const std::string &version,
                            std::span<const Stage> stages) {
  const Gl &gl = session.context->gl();
  const GLuint program = gl.CreateProgram();
  const auto failed = [&](const std::string &why) {
    gl.DeleteProgram(program);
    return Status(LC_ERROR_DEVICE, "the driver of " + session.properties.id +
                                       " does not take the shader " + name + ": " + words(why));
  };
  for (const Stage &stage : stages) {
    const GLuint shader = gl.CreateShader(stage.kind);
    static constexpr char kPrecision[] =
        "#ifdef GL_ES\n"
        "precision highp float;\nprecision highp int;\n"
        "precision highp usampler2D;\nprecision highp sampler2D;\n"
        "#endif\n";
    const char *parts[] = {version.c_str(), kPrecision, stage.defines.c_str(), stage.source};
    gl.ShaderSource(shader, 4, parts, nullptr);
    gl.CompileShader(shader);
    GLint compiled = 0;
    gl.GetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    std::string said(2000, '\0');
    if (compiled == 0)
      gl.GetShaderInfoLog(shader, static_cast<GLsizei>(said.size()), nullptr, said.data());
    gl.AttachShader(program, shader);
    gl.DeleteShader(shader);  // deleted with the program
    if (compiled == 0) return failed(said.c_str());
  }
  gl.LinkProgram(program);
  GLint linked = 0;
  gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
  if (linked == 0) {
    std::string said(2000, '\0');
    gl.GetProgramInfoLog(program, static_cast<GLsizei>(said.size()), nullptr, said.data());
    return failed(said.c_str());
  }
  LC_TRY(session.check("making a program"));
  return program;
}

}  // namespace lanecrypt::device::gl
