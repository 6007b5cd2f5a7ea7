// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <zlib.h>

#include <numeric>

#include "common/data/draft_file.hpp"
#include "common/data/npy.hpp"
#include "common/data/packed_text.hpp"
#include "common/data/sidecar.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace tutti::miniapps;

std::string text_of(const std::vector<std::int32_t>& values) {
  return {reinterpret_cast<const char*>(values.data()), 4 * values.size()};
}

std::uint32_t crc_of(const std::string& text) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

std::string deflated(const std::string& text) {
  ::z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

TEST(Npy, HeadersAreNumpysAndReadBack) {
  const std::string header = npy_header("<i4", {2, 3});
  EXPECT_EQ(header.size() % 64, 0U);
  EXPECT_NE(header.find("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }"), std::string::npos) << header;
  EXPECT_NE(npy_header("<f4", {5}).find("'shape': (5,), }"), std::string::npos);
  const std::string content = header + text_of({1, 2, 3, 4, 5, -6});
  const NpyArray array = parse_npy(content, "x.npy", "<i4", 2);
  EXPECT_EQ(array.shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(array.at<std::int32_t>(5), -6);
}

TEST(Npz, StoredMembersReadBack) {
  const TemporaryFolder folder;
  std::string file;
  std::vector<ZipMember> members;
  for (int i = 0; i < 3; ++i) {
    const std::string content = npy_header("<i4", {2, 1}) + text_of({i, 10 * i});
    members.push_back({std::to_string(i) + ".npy", content.size(), crc_of(content), file.size()});
    file += zip_local_header(members.back()) + content;
  }
  write_all(folder / "a.npz", file + zip_directory(members, file.size()));
  NpzFile npz(folder / "a.npz");
  EXPECT_TRUE(npz.has("2.npy"));
  EXPECT_FALSE(npz.has("3.npy"));
  EXPECT_EQ(npz.array("2.npy", "<i4", 2).at<std::int32_t>(1), 20);
  EXPECT_TRUE(contains(error_of([&] { (void)npz.array("3.npy", "<i4", 2); }), "no member 3.npy"));
  EXPECT_TRUE(contains(error_of([&] { (void)npz.array("1.npy", "<f4", 2); }), "<i4"));
}

TEST(Npz, DeflatedMembersReadBackAndAreChecked) {
  const std::string content = npy_header("<i4", {1000, 1}) + text_of(std::vector<std::int32_t>(1000, 42));
  const std::string packed = deflated(content);
  for (const bool is_damaged : {false, true}) {
    const TemporaryFolder folder;
    std::string file = zip_local_header({"0.npy", packed.size(), 0, 0}) + packed;
    std::string directory =
        zip_directory({{"0.npy", content.size(), crc_of(content) ^ (is_damaged ? 1U : 0U), 0}}, file.size());
    directory[10] = 8;  // the method
    for (std::size_t i = 0; i < 4; ++i) {
      directory[20 + i] = static_cast<char>(packed.size() >> (8 * i) & 255U);
    }
    write_all(folder / "a.npz", file + directory);
    NpzFile npz(folder / "a.npz");
    if (is_damaged) {
      EXPECT_TRUE(contains(error_of([&] { (void)npz.array("0.npy", "<i4", 2); }), "checksum"));
    } else {
      EXPECT_EQ(npz.array("0.npy", "<i4", 2).at<std::int32_t>(999), 42);
    }
  }
}

TEST(Npz, OffsetsOfMoreThanTwoGigabytesStandInTheExtraField) {
  constexpr std::uint64_t far = std::uint64_t{5} << 30U;
  const std::string small = zip_directory({{"0.npy", 100, 1, 0}}, 200);
  const std::string large = zip_directory({{"0.npy", far, 1, far}}, 2 * far);
  EXPECT_EQ(large.size(), small.size() + 4 + 24);
}

TEST(PackedText, HasTheLinesOfThePlainText) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 40'000; ++i) {
    text += std::string(static_cast<std::size_t>(i % 1000), 'x') + std::to_string(i) + (i % 7 == 0 ? "\n\n" : "\n");
  }
  write_all(folder / "plain", text + "\r\n\n");
  ::gzFile file = ::gzopen((folder / "packed").c_str(), "wb1");
  ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(file);
  const auto pieces_of = [&](const std::string& name) {
    std::vector<std::string> pieces;
    for_each_text(folder / name, [&](std::string_view piece) { pieces.emplace_back(piece); });
    return pieces;
  };
  const auto plain = pieces_of("plain");
  const auto packed = pieces_of("packed");
  EXPECT_EQ(packing_of(folder / "plain"), Packing::none);
  EXPECT_EQ(packing_of(folder / "packed"), Packing::gzip);
  ASSERT_EQ(plain.size(), 1U);
  ASSERT_EQ(packed.size(), 2U);
  EXPECT_TRUE(packed[0] + "\n" + packed[1] == plain[0]);
}

TEST(DraftFile, HasItsNameWhenItIsWhole) {
  const TemporaryFolder folder;
  {
    DraftFile draft(folder / "x");
    draft.append(std::as_bytes(std::span("abc", 3)));
    DraftFile other(folder / "x", DraftFile::Role::writer);
    other.write(1, std::as_bytes(std::span("X", 1)));
    EXPECT_FALSE(std::filesystem::exists(folder / "x"));
    draft.commit(true);
  }
  EXPECT_EQ(read_all(folder / "x"), "aXc");
  { const DraftFile left(folder / "y"); }
  EXPECT_FALSE(std::filesystem::exists(folder / "y.draft"));
  write_all(folder / "z.draft", "of a run that was killed");
  DraftFile again(folder / "z");
  again.commit(false);
  EXPECT_EQ(read_all(folder / "z"), "");
  EXPECT_TRUE(contains(error_of([&] { const DraftFile none(folder / "no" / "x"); }), "cannot be created"));
}

TEST(Sidecar, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  Sidecar sidecar;
  sidecar.format = criteo_binary_format;
  sidecar.train = 5;
  sidecar.test = 2;
  sidecar.dense_features = 13;
  sidecar.dense_rule = "log3";
  sidecar.dictionary_rule = "frequency";
  sidecar.threshold = 3;
  sidecar.hash_rows = 4;
  SidecarTable table{9, 7, 2, true, 8, {}};
  add_row(table, 4, 2);
  add_row(table, 2, 5);
  add_row(table, 3, 0);
  sort_hottest(table.counts);
  sidecar.tables = {table};
  sidecar.files = {{"x_train.bin", "records", 7, 1120, 0xffffffff}};
  write_sidecar(folder / "x.json", sidecar);
  const Sidecar read = read_sidecar(folder / "x.json");
  EXPECT_EQ(read.format, sidecar.format);
  EXPECT_EQ(read.samples(), 7U);
  EXPECT_EQ(read.test, 2U);
  EXPECT_EQ(read.dense_rule, "log3");
  EXPECT_EQ(read.dictionary_rule, "frequency");
  EXPECT_EQ(read.threshold, 3U);
  EXPECT_EQ(read.hash_rows, 4U);
  EXPECT_TRUE(read.tables[0].ragged);
  EXPECT_EQ(read.tables[0].ids, 8U);
  EXPECT_EQ(read.tables[0].hotness, 2U);
  const SidecarCounts& f = read.tables[0].counts;
  EXPECT_EQ(f.bucket_rows[1], 1U);
  EXPECT_EQ(f.bucket_rows[2], 1U);
  EXPECT_EQ(f.bucket_lookups[2], 5U);
  EXPECT_EQ(f.hottest, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{2, 5}, {4, 2}}));
  EXPECT_EQ(f.blocks, (std::vector<std::uint64_t>{0, 0, 5, 0, 2, 0, 0, 0, 0}));
  const auto known = lookup_counts(read);
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].shares, (std::vector<double>{0, 0, 5, 0, 2, 0, 0, 0, 0}));
  EXPECT_EQ(known[0].frequencies.hot_rows, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(known[0].frequencies.hot_lookups, (std::vector<double>{5, 2}));
  EXPECT_EQ(known[0].frequencies.bucket_rows, std::vector<double>(64, 0));
  EXPECT_EQ(read.files[0].crc32, 0xffffffffU);
  EXPECT_EQ(sidecar_path(folder / "x"), folder / "x.json");
  EXPECT_EQ(sidecar_path(folder.path()), folder / "data.json");
}

/// Of a sidecar without them, as of a table without lookups, nothing is known.
TEST(Sidecar, MayLackBlocks) {
  const TemporaryFolder folder;
  Sidecar sidecar;
  sidecar.format = criteo_binary_format;
  sidecar.train = 7;
  sidecar.tables = {{9, 0, 1, false, 0, {}}, {9, 7, 1, false, 0, {}}};
  add_row(sidecar.tables[1], 4, 7);
  sidecar.files = {{"x_train.bin", "records", 7, 1120, 0}};
  const auto known = lookup_counts(sidecar);
  ASSERT_EQ(known.size(), 2U);
  EXPECT_TRUE(known[0].shares.empty() && known[0].frequencies.empty());
  EXPECT_EQ(known[1].shares.size(), 9U);
  write_sidecar(folder / "x.json", sidecar);
  std::string text = read_all(folder / "x.json");
  const std::string blocks = ",\"blocks\":[0,0,0,0,7,0,0,0,0]";
  ASSERT_NE(text.find(blocks), std::string::npos) << text;
  write_all(folder / "x.json", text.erase(text.find(blocks), blocks.size()));
  EXPECT_TRUE(lookup_counts(read_sidecar(folder / "x.json")).empty());
}

TEST(Sidecar, KeepsTheHottestOfManyRows) {
  SidecarTable table{100'000, 50'050'000, 1, false, 0, {}};
  for (std::uint64_t row = 0; row < 100'000; ++row) {
    add_row(table, row, 1 + row % 1000);
  }
  SidecarCounts& f = table.counts;
  sort_hottest(f);
  ASSERT_EQ(f.hottest.size(), most_hottest);
  EXPECT_EQ(f.hottest[0], (std::pair<std::uint64_t, std::uint64_t>{999, 1000}));
  EXPECT_EQ(f.hottest[100], (std::pair<std::uint64_t, std::uint64_t>{998, 999}));
  EXPECT_EQ(f.hottest.back().second, 960U);
  Sidecar sidecar;
  sidecar.tables = {table};
  const auto others = lookup_counts(sidecar)[0].frequencies;
  EXPECT_EQ(others.hot_rows.size(), most_hottest);
  EXPECT_EQ(std::reduce(others.bucket_rows.begin(), others.bucket_rows.end()), 95'904);
  EXPECT_EQ(std::reduce(others.bucket_lookups.begin(), others.bucket_lookups.end()) +
                std::reduce(others.hot_lookups.begin(), others.hot_lookups.end()),
            50'050'000);
}

}  // namespace
