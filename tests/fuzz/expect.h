#pragma once

#include <cstdio>
#include <cstdlib>

#include "derm/base/result.h"

namespace derm::fuzz {

/// What must hold for any input; a breach stops the fuzzer, which then keeps the input.
inline void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

template <class T>
void expectOk(const Result<T>& result, const char* what) {
  if (!result.ok()) std::fprintf(stderr, "%s\n", result.error().text().c_str());
  expect(result.ok(), what);
}

/// An error is for people: one line that says something.
inline void expectReadable(const Error& error) {
  const std::string text = error.text();
  expect(!error.message.empty() && text.find('\n') == std::string::npos, "an error is one line");
}

}  // namespace derm::fuzz
