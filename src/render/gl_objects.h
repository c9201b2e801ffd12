#pragma once

#include <string_view>
#include <utility>

#include <epoxy/gl.h>

#include "derm/base/result.h"

/// Owners of OpenGL names. All need the context they were made in to be current, also when they
/// are destroyed.
namespace derm::detail::gl {

template <class Traits>
class Handle {
 public:
  Handle() = default;
  explicit Handle(GLuint name) : name_(name) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      name_ = std::exchange(other.name_, 0);
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  GLuint get() const { return name_; }
  explicit operator bool() const { return name_ != 0; }
  void reset() {
    if (name_ != 0) Traits::destroy(name_);
    name_ = 0;
  }

 private:
  GLuint name_ = 0;
};

struct BufferTraits {
  static void destroy(GLuint name) { glDeleteBuffers(1, &name); }
};
struct TextureTraits {
  static void destroy(GLuint name) { glDeleteTextures(1, &name); }
};
struct FramebufferTraits {
  static void destroy(GLuint name) { glDeleteFramebuffers(1, &name); }
};
struct RenderbufferTraits {
  static void destroy(GLuint name) { glDeleteRenderbuffers(1, &name); }
};
struct VertexArrayTraits {
  static void destroy(GLuint name) { glDeleteVertexArrays(1, &name); }
};
struct ProgramTraits {
  static void destroy(GLuint name) { glDeleteProgram(name); }
};

using Buffer = Handle<BufferTraits>;
using Texture = Handle<TextureTraits>;
using Framebuffer = Handle<FramebufferTraits>;
using Renderbuffer = Handle<RenderbufferTraits>;
using VertexArray = Handle<VertexArrayTraits>;
using Program = Handle<ProgramTraits>;

Buffer makeBuffer();
Framebuffer makeFramebuffer();
VertexArray makeVertexArray();
/// One level, clamped at the edges.
Texture makeTexture(GLenum format, int width, int height, GLenum filter);
Renderbuffer makeRenderbuffer(GLenum format, int width, int height, int samples);

/// Compiles and links; the error carries the driver's own message and the program's name.
Result<Program> makeProgram(std::string_view name, std::string_view vertex,
                            std::string_view fragment);

}  // namespace derm::detail::gl
