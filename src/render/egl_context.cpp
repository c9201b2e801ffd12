#include "render/egl_context.h"

#include <string>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <epoxy/egl.h>

namespace derm::detail {
namespace {

Error missing(std::string what) {
  return Error{ErrorCode::Unsupported, "no pictures can be drawn here: " + std::move(what), {}};
}

/// epoxy ends the process where a library it needs is not installed; so we look first.
bool libraryThere(const char* name) {
  void* handle = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (handle) ::dlclose(handle);
  return handle != nullptr;
}

bool hasWord(const char* list, std::string_view word) {
  const std::string_view words = list ? list : "";
  for (std::size_t at = 0; (at = words.find(word, at)) != std::string_view::npos; ++at) {
    const bool starts = at == 0 || words[at - 1] == ' ';
    const std::size_t end = at + word.size();
    if (starts && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

Result<EglContext> EglContext::create() {
  if (!libraryThere("libEGL.so.1")) return missing("libEGL is not installed (package libegl1)");
  if (!libraryThere("libOpenGL.so.0") && !libraryThere("libGL.so.1"))
    return missing("libOpenGL is not installed (package libopengl0)");
  const char* client = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  if (!hasWord(client, "EGL_MESA_platform_surfaceless") ||
      !hasWord(client, "EGL_EXT_platform_base"))
    return missing("EGL has no surfaceless platform (package libegl-mesa0)");
  EGLDisplay display =
      eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
  EGLint major = 0, minor = 0;
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, &major, &minor))
    return missing("EGL does not start (package libgl1-mesa-dri)");
  const char* extensions = eglQueryString(display, EGL_EXTENSIONS);
  if (!hasWord(extensions, "EGL_KHR_surfaceless_context") ||
      !hasWord(extensions, "EGL_KHR_no_config_context"))
    return missing("EGL cannot make a context without a surface");
  const EGLenum old_api = eglQueryAPI();
  if (!eglBindAPI(EGL_OPENGL_API)) return missing("EGL has no desktop OpenGL");
  const EGLint wanted[] = {EGL_CONTEXT_MAJOR_VERSION,
                           4,
                           EGL_CONTEXT_MINOR_VERSION,
                           5,
                           EGL_CONTEXT_OPENGL_PROFILE_MASK,
                           EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                           EGL_NONE};
  EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, wanted);
  eglBindAPI(old_api);
  if (context == EGL_NO_CONTEXT) return missing("the driver has no OpenGL 4.5");
  // The display is never terminated: EGL hands the same one to everybody in the process.
  return EglContext(display, context);
}

EglContext::~EglContext() {
  if (context_) eglDestroyContext(display_, context_);
}

EglContext::EglContext(EglContext&& other) noexcept
    : display_(other.display_), context_(std::exchange(other.context_, nullptr)) {}

EglContext& EglContext::operator=(EglContext&& other) noexcept {
  std::swap(display_, other.display_);
  std::swap(context_, other.context_);
  return *this;
}

EglContext::Current::Current(const EglContext& context)
    : old_display_(eglGetCurrentDisplay()),
      old_context_(eglGetCurrentContext()),
      old_draw_(eglGetCurrentSurface(EGL_DRAW)),
      old_read_(eglGetCurrentSurface(EGL_READ)),
      display_(context.display_) {
  eglBindAPI(EGL_OPENGL_API);
  ok_ = eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context.context_) == EGL_TRUE;
}

EglContext::Current::~Current() {
  if (old_context_ != EGL_NO_CONTEXT)
    eglMakeCurrent(old_display_, old_draw_, old_read_, old_context_);
  else
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

}  // namespace derm::detail
