#include "io/background_file.h"

#include <system_error>
#include <utility>

namespace derm::detail {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

}  // namespace

BackgroundFile::BackgroundFile(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {
  filling_.reserve(kBlock);
  // Where there is no thread to be had, blocks are written where they are handed over. Builds
  // without exceptions could not be told, so they have none.
#if defined(__cpp_exceptions)
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
  }
#endif
}

BackgroundFile::~BackgroundFile() { stop(); }

void BackgroundFile::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return busy_ || stopping_; });
    if (!busy_) return;
    // Nobody else touches the block or the file while busy_ is set.
    lock.unlock();
    Result<void> written = file_->append(writing_);
    lock.lock();
    if (!written && !error_) error_ = std::move(written).error();
    busy_ = false;
    changed_.notify_all();
  }
}

Result<void> BackgroundFile::handOver() {
  if (!thread_.joinable()) {
    Result<void> written = file_->append(filling_);
    filling_.clear();
    return written;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !busy_; });
  if (error_) return *error_;
  std::swap(filling_, writing_);
  filling_.clear();
  busy_ = !writing_.empty();
  changed_.notify_all();
  return {};
}

Result<void> BackgroundFile::append(std::span<const std::uint8_t> bytes) {
  filling_.insert(filling_.end(), bytes.begin(), bytes.end());
  return filling_.size() < kBlock ? Result<void>() : handOver();
}

void BackgroundFile::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<void> BackgroundFile::commit() {
  DERM_CHECK(handOver());
  stop();
  if (error_) return *error_;
  return file_->commit();
}

}  // namespace derm::detail
