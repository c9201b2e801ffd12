#include "render/gl_objects.h"

#include <string>

namespace derm::detail::gl {
namespace {

std::string shaderLog(GLuint shader) {
  GLint length = 0;
  glGetShaderiv(shader, GL_INFO_LOG_LENGTH, &length);
  std::string text(static_cast<std::size_t>(length > 0 ? length : 1), '\0');
  glGetShaderInfoLog(shader, length, nullptr, text.data());
  return text;
}

Error programError(std::string_view name, const std::string& log) {
  return Error{ErrorCode::Unsupported,
               "the driver refuses a shader: " + log,
               {.element = std::string(name)}};
}

Result<GLuint> compiled(GLenum stage, std::string_view name, std::string_view source) {
  const GLuint shader = glCreateShader(stage);
  const char* text = source.data();
  const auto length = static_cast<GLint>(source.size());
  glShaderSource(shader, 1, &text, &length);
  glCompileShader(shader);
  GLint ok = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
  if (ok) return shader;
  Error error = programError(name, shaderLog(shader));
  glDeleteShader(shader);
  return error;
}

}  // namespace

Buffer makeBuffer() {
  GLuint name = 0;
  glCreateBuffers(1, &name);
  return Buffer(name);
}

Framebuffer makeFramebuffer() {
  GLuint name = 0;
  glCreateFramebuffers(1, &name);
  return Framebuffer(name);
}

VertexArray makeVertexArray() {
  GLuint name = 0;
  glCreateVertexArrays(1, &name);
  return VertexArray(name);
}

Texture makeTexture(GLenum format, int width, int height, GLenum filter) {
  GLuint name = 0;
  glCreateTextures(GL_TEXTURE_2D, 1, &name);
  glTextureStorage2D(name, 1, format, width, height);
  glTextureParameteri(name, GL_TEXTURE_MIN_FILTER, static_cast<GLint>(filter));
  glTextureParameteri(name, GL_TEXTURE_MAG_FILTER, static_cast<GLint>(filter));
  glTextureParameteri(name, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTextureParameteri(name, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return Texture(name);
}

Renderbuffer makeRenderbuffer(GLenum format, int width, int height, int samples) {
  GLuint name = 0;
  glCreateRenderbuffers(1, &name);
  glNamedRenderbufferStorageMultisample(name, samples > 1 ? samples : 0, format, width, height);
  return Renderbuffer(name);
}

Result<Program> makeProgram(std::string_view name, std::string_view vertex,
                            std::string_view fragment) {
  DERM_TRY(const GLuint vertex_shader, compiled(GL_VERTEX_SHADER, name, vertex));
  auto fragment_shader = compiled(GL_FRAGMENT_SHADER, name, fragment);
  if (!fragment_shader) {
    glDeleteShader(vertex_shader);
    return std::move(fragment_shader).error();
  }
  Program program(glCreateProgram());
  glAttachShader(program.get(), vertex_shader);
  glAttachShader(program.get(), *fragment_shader);
  glLinkProgram(program.get());
  glDeleteShader(vertex_shader);
  glDeleteShader(*fragment_shader);
  GLint ok = 0;
  glGetProgramiv(program.get(), GL_LINK_STATUS, &ok);
  if (ok) return program;
  std::string log(1024, '\0');
  glGetProgramInfoLog(program.get(), static_cast<GLsizei>(log.size()), nullptr, log.data());
  return programError(name, log.c_str());
}

}  // namespace derm::detail::gl
