// SPDX-License-Identifier: BSD-3-Clause
// Files that something has happened to: one line each, that names the file.
#include <gtest/gtest.h>
#include <zlib.h>

#include <functional>

#include "common/data/npy.hpp"
#include "common/data/sidecar.hpp"
#include "support/temporary_folder.hpp"
#include "text_input.hpp"
#include "view.hpp"

namespace {

using namespace tutti;
using namespace tutti::miniapps;

constexpr std::size_t most_message = 300;

void expect_one_line(const TemporaryFolder& folder, const std::string& name, const std::function<void()>& call) {
  std::string message = error_of(call);
  EXPECT_TRUE(contains(message, name)) << message;
  const auto at = message.find(folder.path().string());
  message.erase(at == std::string::npos ? 0 : at, at == std::string::npos ? 0 : folder.path().string().size());
  EXPECT_LE(message.size(), most_message) << message;
  for (const char c : message) {
    EXPECT_FALSE(c >= 0 && c < ' ') << name << ": a control character in: " << message;
  }
}

std::string good_text() {
  std::string line = "1";
  for (int i = 0; i < 39; ++i) {
    line += "\t5";
  }
  return line + "\n" + line + "\n" + line + "\n";
}

std::string gzipped(const std::string& text, const TemporaryFolder& folder) {
  const std::string name = folder / "made.gz";
  ::gzFile file = ::gzopen(name.c_str(), "wb");
  ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(file);
  return read_all(name);
}

/// What zstd makes of a text that it does not compress: https://datatracker.ietf.org/doc/html/rfc8878, in two frames.
std::string zstd_frames(const std::string& text) {
  const auto frame = [](const std::string& part) {
    const std::size_t block = 1 + 8 * part.size();  // the last one, raw
    return std::string("\x28\xb5\x2f\xfd\x20", 5) + static_cast<char>(part.size()) + static_cast<char>(block & 255U) +
           static_cast<char>(block >> 8U) + '\0' + part;
  };
  return frame(text.substr(0, 1)) + frame(text.substr(1));
}

void parse_all(const std::string& path) {
  for (const data::TextFile& file : data::find_text_files({path})) {
    if (!file.is_packed) {
      (void)data::parse_range(file, 0, file.bytes);
      continue;
    }
    data::parse_packed(
        file, 1U << 16U, [](std::uint64_t) { return true; }, [](std::uint64_t, data::Samples&, bool) {});
  }
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Faults, OfText) {
  const TemporaryFolder folder;
  const std::string good = good_text();
  const std::string packed = gzipped(good, folder);
  std::string noise(100'000, '\0');
  for (std::size_t i = 0; i < noise.size(); ++i) {
    noise[i] = static_cast<char>(i * 2654435761U >> 13U);
  }
  const std::vector<std::pair<std::string, std::string>> faults{
      {"empty", ""},
      {"binary", noise},
      {"label", "9" + good.substr(1)},
      {"header", "label\tI1\tI2\n" + good},
      {"bom", "\xef\xbb\xbf" + good},
      {"blank", good + "\n" + good},
      {"short", good.substr(0, good.size() - 5)},
      {"long", changed(good, "\n", "\t5\n")},
      {"commas", changed(good, "\t", ",")},
      {"large", changed(good, "\t5", "\t5000000000")},
      {"hex", changed(good, "\t5\n", "\tzz\n")},
      {"nine", changed(good, "\t5\n", "\t123456789\n")},
      {"fifty", changed(good, "\t5\n", "\t" + std::string(50'000'000, '5') + "\n")},
      {"zero", changed(good, "\t5\n", "\t" + std::string(1, '\0') + "\n")},
      {"zstd", std::string("\x28\xb5\x2f\xfd", 4) + good},
      {"cut.gz", packed.substr(0, packed.size() - 9)},
      {"crc.gz", packed.substr(0, packed.size() - 8) + "abcd" + packed.substr(packed.size() - 4)},
      {"head.gz", packed.substr(0, 5)},
      {"label.gz", gzipped("7" + good.substr(1), folder)},
      {"cut.zst", zstd_frames("abc").substr(0, 9)},
      {"text.zst", zstd_frames("no text of Criteo\n")},
  };
  for (const auto& [name, content] : faults) {
    write_all(folder / name, content);
    expect_one_line(folder, name, [&] { parse_all(folder / name); });
  }
  expect_one_line(folder, "none", [&] { parse_all(folder / "none"); });
  std::filesystem::create_directory(folder / "days");
  expect_one_line(folder, "days", [&] { parse_all(folder / "days"); });
  write_all(folder / "days" / "day_1", good);
  write_all(folder / "days" / "day_1.gz", packed);
  expect_one_line(folder, "day 1", [&] { parse_all(folder / "days"); });
  write_all(folder / "good", good);
  write_all(folder / "good.gz", packed);
  EXPECT_NO_THROW(parse_all(folder / "good"));
  EXPECT_NO_THROW(parse_all(folder / "good.gz"));
}

Sidecar small_sidecar() {
  Sidecar sidecar;
  sidecar.format = criteo_binary_format;
  sidecar.train = 2;
  sidecar.dense_features = 13;
  sidecar.tables = {{9, 2, 1, false, 9, {}}};
  add_row(sidecar.tables[0], 4, 2);
  sidecar.files = {{"x_train.bin", "records", 2, 320, 1}};
  return sidecar;
}

TEST(Faults, OfSidecars) {
  const TemporaryFolder folder;
  write_sidecar(folder / "x.json", small_sidecar());
  write_all(folder / "x_train.bin", std::string(320, '\0'));
  EXPECT_NO_THROW((void)data::open_data(folder / "x"));
  const std::string good = read_all(folder / "x.json");
  const std::vector<std::pair<std::string, std::string>> faults{
      {"empty", ""},
      {"text", "no JSON"},
      {"list", "[1, 2]"},
      {"half", good.substr(0, good.size() / 2)},
      {"other", "{\"a\": 1}"},
      {"version", changed(good, "\"tutti_data\":1", "\"tutti_data\":2")},
      {"format", changed(good, "criteo-binary", std::string(1000, 'x'))},
      {"negative", changed(good, "\"train\":2", "\"train\":-2")},
      {"fraction", changed(good, "\"rows\":9", "\"rows\":1.5")},
      {"no_rows", changed(good, "\"rows\":9", "\"rows\":0")},
      {"samples", changed(good, "\"train\":2", "\"train\":3")},
      {"missing", changed(good, "\"lookups\"", "\"lookup\"")},
      {"bucket", changed(good, "[1,1,2]", "[64,1,2]")},
      {"too_many", changed(good, "[1,1,2]", "[1,99,2]")},
      {"hottest", changed(good, "[[4,2]]", "[[9,2]]")},
      {"zero", changed(good, "[[4,2]]", "[[4,0]]")},
      {"twice", changed(changed(good, "[1,1,2]", "[0,2,2]"), "[[4,2]]", "[[4,1],[4,1]]")},
      {"no_bucket", changed(good, "[[4,2]]", "[[4,2],[5,2]]")},
      {"less_than_hot", changed(changed(good, "[1,1,2]", "[1,1,1]"), "[0,0,0,0,2", "[0,0,0,0,1")},
      {"blocks", changed(good, "0,0,0,0,2,0", "0,0,0,0,2")},
      {"other_lookups", changed(good, "[0,0,0,0,2", "[0,0,0,0,1")},
      {"block", changed(good, "[0,0,0,0,2", "[0,0,0,\"0\",2")},
      {"rule", changed(good, "log1p", "log9")},
      {"string", changed(good, "\"crc32\":1", "\"crc32\":\"1\"")},
  };
  for (const auto& [name, content] : faults) {
    write_all(folder / (name + ".json"), content);
    expect_one_line(folder, name + ".json", [&] { (void)data::open_data(folder / name); });
  }
  expect_one_line(folder, "none.json", [&] { (void)data::open_data(folder / "none"); });
  write_all(folder / "x_train.bin", std::string(319, '\0'));
  expect_one_line(folder, "x_train.bin", [&] { (void)data::open_data(folder / "x"); });
  std::filesystem::remove(folder / "x_train.bin");
  expect_one_line(folder, "x_train.bin", [&] { (void)data::open_data(folder / "x"); });
}

TEST(Faults, OfArrays) {
  const TemporaryFolder folder;
  const std::string header = npy_header("<i4", {2, 1});
  const std::string good = header + std::string(8, '\1');
  const auto parse = [](const std::string& content) { (void)parse_npy(content, "a.npy", "<i4", 2); };
  EXPECT_NO_THROW(parse(good));
  for (const std::string& content :
       {std::string(), std::string("PK"), good.substr(0, 20), good.substr(0, good.size() - 1), good + "x",
        changed(good, "<i4", ">i4"), changed(good, "<i4", "<i8"), changed(good, "'<i4'", "'|O' "),
        changed(good, "False", "True "), changed(good, "(2, 1)", "(2,  )"), changed(good, "(2, 1)", "(x, 1)"),
        changed(good, "shape", "shapo"), changed(good, "(2, 1)", "(9, 9)"), changed(good, "\x01", "\x09")}) {
    expect_one_line(folder, "a.npy", [&] { parse(content); });
  }
  const std::string member = zip_local_header({"0.npy", good.size(), 0, 0}) + good;
  const std::string zip = member + zip_directory({{"0.npy", good.size(), 0, 0}}, member.size());
  for (const std::string& content : {std::string(), std::string(1000, 'x'), zip.substr(0, zip.size() - 30),
                                     zip.substr(30), zip.substr(0, 40) + zip.substr(zip.size() - 22)}) {
    write_all(folder / "a.npz", content);
    expect_one_line(folder, "a.npz", [&] { (void)NpzFile(folder / "a.npz").array("0.npy", "<i4", 2); });
  }
}

}  // namespace
