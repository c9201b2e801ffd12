#include "derm/base/module.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace derm::module_test {
namespace {

TEST(Module, LooksInTheEnvironmentsFolderThenBesideTheProgram) {
  ::setenv("DERM_MODULES", "/somewhere/else", 1);
  const std::vector<std::string> files = moduleFiles("derm_part");
  ::unsetenv("DERM_MODULES");
  ASSERT_EQ(files.size(), 5u);
  EXPECT_EQ(files[0], "/somewhere/else/libderm_part.so");
  EXPECT_NE(files[1].find("/../"), std::string::npos);
  EXPECT_NE(files[1].find("/derm/libderm_part.so"), std::string::npos);
  EXPECT_EQ(files[4], "libderm_part.so");
  EXPECT_EQ(moduleFiles("derm_part").size(), 4u);
}

TEST(Module, OneThatIsNotThereIsAnErrorThatNamesIt) {
  const auto function = loadModuleFunction("derm_no_such_module");
  ASSERT_FALSE(function.ok());
  EXPECT_EQ(function.error().code, ErrorCode::Unsupported);
  EXPECT_NE(function.error().text().find("libderm_no_such_module.so"), std::string::npos)
      << function.error().text();
}

TEST(Module, AProgramIsFoundInTheEnvironmentsFolderOrNamedWithThePlaces) {
  ::setenv("DERM_MODULES", "/bin", 1);
  const Result<std::string> found = findModuleProgram("sh");
  const Result<std::string> missing = findModuleProgram("derm-no-such-program");
  ::unsetenv("DERM_MODULES");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, "/bin/sh");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::Unsupported);
  EXPECT_NE(missing.error().text().find("/bin,"), std::string::npos) << missing.error().text();
  EXPECT_NE(missing.error().text().find("derm-no-such-program"), std::string::npos);
}

TEST(Module, AFileThatIsNoModuleIsRefused) {
  // The system's C library is a shared object, and not one of derm's.
  const auto function = loadModuleFunction("m");
  ASSERT_FALSE(function.ok());
}

}  // namespace
}  // namespace derm::module_test
