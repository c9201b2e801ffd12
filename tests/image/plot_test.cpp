#include "derm/image/plot.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace derm::plot_test {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

PlotDesc parabola() {
  PlotDesc desc;
  desc.title = "Volume";
  desc.x = {"time", "s", {}, {}};
  desc.y = {"volume", "cm\u00B3", {}, {}};
  PlotSeries s;
  s.name = "linear";
  for (int i = 0; i <= 100; ++i) {
    s.x.push_back(i / 50.0);
    s.y.push_back(i * i / 100.0);
  }
  desc.series.push_back(s);
  return desc;
}

TEST(Plot, SvgHasTitleUnitsLegendAndRoundTicks) {
  const auto svg = plotSvg(parabola());
  ASSERT_TRUE(svg.ok());
  EXPECT_EQ(svg->rfind("<svg ", 0), 0u);
  for (const char* text : {">Volume<", ">time [s]<", ">volume [cm\u00B3]<", ">linear<", ">0.5<",
                           ">1.5<", ">100<", ">20<"})
    EXPECT_NE(svg->find(text), std::string::npos) << text;
  EXPECT_EQ(count(*svg, "<svg"), count(*svg, "</svg>"));
  EXPECT_EQ(count(*svg, "<text"), count(*svg, "</text>"));
}

TEST(Plot, TextOfTheUserCannotBreakTheSvg) {
  PlotDesc desc = parabola();
  desc.title = "a<b>&\"\x01\xFF</svg>";
  desc.series[0].name = "<script>";
  const auto svg = plotSvg(desc);
  ASSERT_TRUE(svg.ok());
  EXPECT_EQ(count(*svg, "</svg>"), 1u);
  EXPECT_EQ(svg->find("<script"), std::string::npos);
  EXPECT_EQ(svg->find('\x01'), std::string::npos);
  EXPECT_EQ(svg->find('\xFF'), std::string::npos);
}

TEST(Plot, PixelsShowTheCurveInItsColour) {
  PlotDesc desc = parabola();
  desc.series[0].colour = Rgba8{255, 0, 0, 255};
  const auto image = plotImage(desc);
  ASSERT_TRUE(image.ok());
  ASSERT_EQ(image->width, desc.width);
  std::size_t red = 0;
  for (const Rgba8& p : image->pixels) red += p.r > 240 && p.g < 60 && p.b < 60;
  EXPECT_GT(red, 800u);
  EXPECT_EQ(*image, *plotImage(desc));
}

TEST(Plot, AGapIsLeftWhereANumberIsNone) {
  PlotDesc desc = parabola();
  for (std::size_t i = 40; i < 60; ++i) desc.series[0].y[i] = std::nan("");
  const auto svg = plotSvg(desc);
  ASSERT_TRUE(svg.ok());
  EXPECT_EQ(count(*svg, "<polyline"), 3u);  // two pieces and the legend's stroke
  EXPECT_EQ(svg->find("nan"), std::string::npos);
}

TEST(Plot, StrangeDataStillGivesAPlot) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& y : {std::vector<double>{},
                                       {5.0},
                                       {0.0, 0.0},
                                       {-7.0, -7.0},
                                       {inf, -inf},
                                       {1e-300, 2e-300},
                                       {1e299, -1e299},
                                       {1e15, 1e15 + 1},
                                       {1.0, 1.0 + 1e-15},
                                       {-1e-9, 3e-9}}) {
    PlotDesc desc;
    PlotSeries s;
    s.y = y;
    for (std::size_t i = 0; i < y.size(); ++i) s.x.push_back(double(i));
    desc.series.push_back(s);
    const auto svg = plotSvg(desc);
    ASSERT_TRUE(svg.ok());
    EXPECT_EQ(svg->find("nan"), std::string::npos);
    EXPECT_EQ(svg->find("inf"), std::string::npos);
    EXPECT_TRUE(plotImage(desc).ok());
  }
}

TEST(Plot, SmallNumbersGetACommonPowerOfTen) {
  PlotDesc desc = parabola();
  for (double& v : desc.series[0].y) v *= 4e-7;
  const auto svg = plotSvg(desc);
  EXPECT_NE(svg->find("[1e-6 cm\u00B3]"), std::string::npos);
}

TEST(Plot, FixedEndsAreKept) {
  PlotDesc desc = parabola();
  desc.y.low = -50;
  desc.y.high = 50;
  const auto svg = plotSvg(desc);
  EXPECT_NE(svg->find(">-40<"), std::string::npos);
  EXPECT_EQ(svg->find(">100<"), std::string::npos);
}

TEST(Plot, BadDescriptionsAreNamedErrors) {
  PlotDesc small = parabola();
  small.width = 20;
  EXPECT_FALSE(plotSvg(small).ok());
  PlotDesc uneven = parabola();
  uneven.series[0].x.pop_back();
  const auto svg = plotSvg(uneven);
  ASSERT_FALSE(svg.ok());
  EXPECT_EQ(svg.error().code, ErrorCode::BadArgument);
  EXPECT_EQ(svg.error().where.element, "series[0]");
  PlotDesc turned = parabola();
  turned.x.low = 2;
  turned.x.high = 1;
  EXPECT_EQ(plotImage(turned).error().where.element, "x axis");
}

}  // namespace
}  // namespace derm::plot_test
