#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace derm::testing_support {

/// A test with a folder of its own, removed afterwards.
class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string name = (std::filesystem::temp_directory_path() / "derm-test-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
    EXPECT_FALSE(folder_.empty());
  }
  ~FolderTest() override {
    std::error_code ignored;
    // A test may have locked it.
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(folder_, ignored);
  }

  std::size_t fileCount() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                                  std::filesystem::directory_iterator()));
  }

  std::filesystem::path folder_;
};

}  // namespace derm::testing_support
