#pragma once

#include "derm/base/result.h"

namespace derm::detail {

/// An OpenGL 4.5 core context without any surface. Move-only.
class EglContext {
 public:
  static Result<EglContext> create();
  ~EglContext();
  EglContext(EglContext&& other) noexcept;
  EglContext& operator=(EglContext&& other) noexcept;

  /// Makes it the calling thread's context while alive and then brings back what was there, so that
  /// a program with a window of its own is not disturbed.
  class Current {
   public:
    explicit Current(const EglContext& context);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    bool ok() const { return ok_; }

   private:
    void* old_display_;
    void* old_context_;
    void* old_draw_;
    void* old_read_;
    void* display_;
    bool ok_;
  };

 private:
  EglContext(void* display, void* context) : display_(display), context_(context) {}
  void* display_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace derm::detail
