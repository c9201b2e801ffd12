#include "derm/base/markup_text.h"

#include <gtest/gtest.h>

namespace derm::markup_text_test {

TEST(MarkupText, TagsAndQuotesAreEscaped) {
  EXPECT_EQ(markupText("a < b & \"c\" > d"), "a &lt; b &amp; &quot;c&quot; &gt; d");
}

TEST(MarkupText, WholeCharactersStay) { EXPECT_EQ(markupText("α – é 🐈"), "α – é 🐈"); }

TEST(MarkupText, ForbiddenBytesAreReplaced) {
  EXPECT_EQ(markupText(std::string("a\x01z\x7F", 4)), "a z ");
  EXPECT_EQ(markupText("\xC3(\xF0\x9F\x90\xFF"), "?(????") << "cut and overlong sequences";
  EXPECT_EQ(markupText("\xC0\xAF"), "??");
}

TEST(MarkupText, LineEndsAndTabsStay) { EXPECT_EQ(markupText("a\n\tb"), "a\n\tb"); }

}  // namespace derm::markup_text_test
