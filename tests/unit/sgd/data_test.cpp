// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <tutti/error.hpp>

#include "generated_source.hpp"
#include "source.hpp"
#include "support/temporary_folder.hpp"

namespace sgd {
namespace {

GeneratedShape shape_of(Target target) {
  GeneratedShape shape;
  shape.samples = 4000;
  shape.features = 12;
  shape.classes = 5;
  shape.target = target;
  shape.noise = 0.1;
  shape.seed = 3;
  return shape;
}

TEST(Generated, SamplesArePureFunctionsOfTheirNumber) {
  const GeneratedSource a(shape_of(Target::many_classes));
  const GeneratedSource b(shape_of(Target::many_classes));
  Rows forward;
  Rows single;
  for (std::uint64_t k = 0; k < 50; ++k) {
    a.append(Split::train, k, forward);
  }
  for (std::uint64_t k = 50; k-- > 0;) {
    single.clear();
    b.append(Split::train, k, single);
    for (std::size_t j = 0; j < 12; ++j) {
      ASSERT_EQ(single.values[j], forward.values[k * 12 + j]);
    }
    ASSERT_EQ(single.labels[0], forward.labels[k]);
  }
  single.clear();
  b.append(Split::test, 0, single);
  EXPECT_NE(single.values[0], forward.values[0]);
}

TEST(Generated, FeaturesHaveUnitVarianceAndAllClassesOccur) {
  const GeneratedSource source(shape_of(Target::many_classes));
  Rows rows;
  for (std::uint64_t k = 0; k < source.samples(Split::train); ++k) {
    source.append(Split::train, k, rows);
  }
  double sum = 0;
  double squares = 0;
  for (const double v : rows.values) {
    sum += v;
    squares += v * v;
  }
  const auto n = static_cast<double>(rows.values.size());
  EXPECT_NEAR(sum / n, 0, 0.02);
  EXPECT_NEAR(squares / n, 1, 0.02);
  std::vector<int> count(5);
  for (const double label : rows.labels) {
    ++count.at(static_cast<std::size_t>(label));
  }
  for (const int c : count) {
    EXPECT_GT(c, 200);
  }
}

TEST(Sources, AdultIsOneHot) {
  Options o;
  o.train_file = TUTTI_SOURCE_DIR "/miniapps/common/data/adult";
  const auto source = make_source(o);
  EXPECT_EQ(source->samples(Split::train), 32561U);
  EXPECT_EQ(source->samples(Split::test), 16281U);
  EXPECT_EQ(source->classes(), 2U);
  Rows rows;
  source->append(Split::train, 0, rows);
  source->append(Split::train, 1, rows);
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows.offsets[1] * 2, rows.offsets[2]);
  for (std::size_t e = 0; e + 1 < rows.offsets[1]; ++e) {
    EXPECT_LT(rows.columns[e], rows.columns[e + 1]);
  }
  EXPECT_LT(rows.columns.back(), source->features());
}

TEST(Sources, FilesGiveTrainAndTest) {
  const TemporaryFolder folder;
  std::string text = "x,y\n";
  for (int i = 0; i < 200; ++i) {
    text += std::to_string(i) + "," + (i % 3 == 0 ? "a" : "b") + "\n";
  }
  write_all(folder / "d.csv", text);
  Options o;
  o.data = "csv";
  o.train_file = folder / "d.csv";
  o.label = "y";
  const auto source = make_source(o);
  EXPECT_EQ(source->samples(Split::train) + source->samples(Split::test), 200U);
  EXPECT_EQ(source->classes(), 2U);
  EXPECT_EQ(source->features(), 1U);
  o.label = "z";
  EXPECT_THROW((void)make_source(o), tutti::Error);
}

TEST(Sources, NameTheCellThatIsNoNumber) {
  const TemporaryFolder folder;
  Options o;
  o.data = "csv";
  o.train_file = folder / "d.csv";
  o.label = "y";
  for (const char* column : {"x", "y"}) {
    const bool is_label = *column == 'y';
    write_all(folder / "d.csv", std::string("x,y\n1,2\n3,4\n") + (is_label ? "5,oops\n" : "oops,6\n") + "7,8\n");
    try {
      (void)make_source(o);
      FAIL() << column;
    } catch (const tutti::Error& error) {
      for (const std::string& part :
           {o.train_file, std::string("line 4"), std::string("'oops'"), std::string("column ") + column})
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace sgd
