// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>
#include <tutti/checkpoint.hpp>

#include "support/temporary_folder.hpp"
#include "training/checkpoint/format.hpp"

namespace {

using namespace tutti;

struct State {
  std::vector<float> table;
  std::vector<float> mlp;
};

State state(float value) { return {std::vector<float>(5000, value), std::vector<float>(333, -value)}; }

/// Two ranks' parts and the commit, in one process. An increment adds to what is there.
void save(const std::filesystem::path& folder, const State& s, const std::string& note, bool is_increment = false) {
  CheckpointPart first(folder, 0);
  first.add("note", std::span<const char>(note));
  first.add("mlp", std::span<const float>(s.mlp));
  CheckpointPart second(folder, 1);
  second.add("table 0", std::span<const float>(s.table));
  first.write();
  second.write();
  if (!is_increment) return commit_checkpoint(folder, 2);
  detail::checkpoint::commit(folder, 2, detail::checkpoint::read_manifest(folder).identity());
}

/// The one value that a whole checkpoint holds everywhere; fails the test otherwise.
float load(const std::filesystem::path& folder) {
  const CheckpointReader reader(folder);
  std::vector<float> table(5000);
  std::vector<float> mlp(333);
  reader.read("table 0", std::span(table));
  reader.read("mlp", std::span(mlp));
  for (const float v : table) {
    EXPECT_EQ(v, table[0]);
  }
  for (const float v : mlp) {
    EXPECT_EQ(v, -table[0]);
  }
  EXPECT_EQ(reader.text("note"), std::to_string(static_cast<int>(table[0])));
  return table[0];
}

std::filesystem::path file_with(const std::filesystem::path& folder, const std::string& ending) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().ends_with(ending)) {
      return entry.path();
    }
  }
  ADD_FAILURE() << "no file ends in " << ending;
  return {};
}

TEST(Checkpoint, IsNotWrittenThroughPlantedLinks) {
  const TemporaryFolder folder;
  write_all(folder / "victim", "mine");
  std::filesystem::create_directory(folder / "c");
  save(folder / "d", state(1), "1");
  for (const auto& entry : std::filesystem::directory_iterator(folder / "d")) {
    const auto name = entry.path().filename().string();
    std::filesystem::create_symlink(folder / "victim",
                                    folder / "c" / (name.starts_with("part-") ? name : name + ".new"));
  }
  save(folder / "c", state(1), "1");
  EXPECT_EQ(load(folder / "c"), 1.0F);
  EXPECT_EQ(read_all(folder / "victim"), "mine");
}

TEST(Checkpoint, ForgetsTheDraftOfASaveThatWasKilled) {
  const TemporaryFolder folder;
  save(folder / "c", state(1), "1");
  for (const auto& entry : std::filesystem::directory_iterator(folder / "c")) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("part-")) {
      write_all(folder / "c" / ("." + name + ".0123456789abcdef"), "half");
    }
  }
  write_all(folder / "c" / ".part-2-0.0123456789abcdef", "half");
  write_all(folder / "c" / ".manifest.fedcba9876543210", "half");
  for (const std::string name : {".manifest", ".manifest.mine", ".manifest.0123456789abcdef0", "notes"})
    write_all(folder / "c" / name, "mine");
  save(folder / "c", state(2), "2");
  const auto entries = std::filesystem::directory_iterator(folder / "c");
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 3 + 4);
}

TEST(Checkpoint, AnIncrementReplacesSectionsOfItsNames) {
  namespace format = detail::checkpoint;
  const TemporaryFolder folder;
  const auto c = folder / "c";
  save(c, state(1), "1");
  const std::uint64_t first = format::read_manifest(c).identity();
  save(c, state(2), "2", true);
  EXPECT_EQ(load(c), 2.0F);
  CheckpointPart part(c, 0);
  const std::vector<float> more(3, 7.0F);
  part.add("more", std::span<const float>(more));
  part.write();
  const std::uint64_t second = format::read_manifest(c).identity();
  EXPECT_TRUE(contains(error_of([&] { format::commit(c, 1, first); }), "another checkpoint"));
  format::commit(c, 1, second);
  EXPECT_EQ(load(c), 2.0F);
  const CheckpointReader reader(c);
  EXPECT_EQ(reader.bytes("more"), 12U);
  EXPECT_EQ(reader.names().size(), 4U);
  ASSERT_EQ(reader.generations().size(), 3U);
  EXPECT_EQ(reader.generations()[0].number, 1U);
  EXPECT_EQ(reader.generations()[1].parts, 2U);
  EXPECT_EQ(reader.generations()[2].bytes, std::filesystem::file_size(c / "part-3-0"));
  std::filesystem::remove(c / "part-1-1");
  EXPECT_TRUE(contains(error_of([&] { CheckpointReader none(c); }), "part-1-1"));
  save(c, state(4), "4");
  EXPECT_EQ(load(c), 4.0F);
  EXPECT_EQ(CheckpointReader(c).generations().size(), 1U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(c), {}), 3) << "older parts must be gone";
}

TEST(Checkpoint, HoldsWhatWasSavedLast) {
  const TemporaryFolder folder;
  save(folder / "c", state(1), "1");
  EXPECT_EQ(load(folder / "c"), 1.0F);
  save(folder / "c", state(2), "2");
  EXPECT_EQ(load(folder / "c"), 2.0F);
  const auto entries = std::filesystem::directory_iterator(folder / "c");
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 3) << "older parts must be gone";
}

/// The error of a save whose last value, of `bytes` bytes, has these bits.
std::string error_with(DatatypeKind type, std::uint64_t bits, std::size_t bytes) {
  const TemporaryFolder folder;
  std::vector<std::byte> values(200'000 * bytes);
  std::memcpy(values.data() + values.size() - bytes, &bits, bytes);
  CheckpointPart part(folder / "c", 0);
  part.add("values", values.size(), type, [&](std::uint64_t offset, std::span<std::byte> out) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  });
  std::string error;
  try {
    part.write();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    error = e.what();
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "c"), {}), error.empty() ? 1 : 0);
  part.discard();
  EXPECT_TRUE(std::filesystem::is_empty(folder / "c"));
  return error;
}

TEST(Checkpoint, ValuesOfASectionAreFinite) {
  const struct {
    DatatypeKind type;
    std::size_t bytes;
    std::uint64_t largest, infinite, nan;
  } cases[] = {{DatatypeKind::float16, 2, 0x7BFF, 0xFC00, 0x7E00},
               {DatatypeKind::bfloat16, 2, 0xFF7F, 0x7F80, 0xFFC0},
               {DatatypeKind::float32, 4, 0x7F7FFFFF, 0x7F800000, 0xFFC00001},
               {DatatypeKind::float64, 8, 0xFFEFFFFFFFFFFFFF, 0xFFF0000000000000, 0x7FF8000000000000}};
  for (const auto& [type, bytes, largest, infinite, nan] : cases) {
    EXPECT_EQ(error_with(type, largest, bytes), "");
    EXPECT_TRUE(contains(error_with(type, infinite, bytes), "'values' has a value that is not finite"));
    EXPECT_TRUE(contains(error_with(type, nan, bytes), "'values' has a value that is not finite"));
    EXPECT_EQ(error_with(DatatypeKind::bytes, nan, bytes), "");
  }
}

TEST(Checkpoint, EmptySectionsAreKept) {
  const TemporaryFolder folder;
  const std::vector<float> values(7, 1.0F);
  for (const bool empty_last : {false, true}) {
    CheckpointPart part(folder / "c", 0);
    if (!empty_last) part.add("nothing", std::span<const float>{});
    part.add("values", std::span<const float>(values));
    if (empty_last) part.add("nothing", std::span<const float>{});
    part.write();
    commit_checkpoint(folder / "c", 1);
    const CheckpointReader reader(folder / "c");
    EXPECT_TRUE(reader.has("nothing"));
    EXPECT_EQ(reader.bytes("nothing"), 0U);
    EXPECT_EQ(reader.text("nothing"), "");
    reader.verify();
  }
}

/// A turned bit anywhere in a section, a table, a header or the manifest is noticed and the section named.
TEST(Checkpoint, DamageIsNoticedEverywhere) {
  const TemporaryFolder folder;
  save(folder / "c", state(1), "1");
  for (const std::string ending : {"-0", "-1", "manifest"}) {
    const auto path = file_with(folder / "c", ending);
    const std::string good = read_all(path);
    for (std::size_t at = 0; at < good.size(); at += at < 700 ? 1 : 97) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x10);
      write_all(path, bad);
      std::string message;
      try {
        CheckpointReader(folder / "c").verify();
      } catch (const tutti::Error& error) {
        message = error.what();
      }
      if (message.empty()) {  // only the filling between sections may go unnoticed
        EXPECT_EQ(good[at], '\0') << ending << " byte " << at;
      } else if (at > 2000) {
        EXPECT_TRUE(contains(message, "section '") && contains(message, "checksum")) << message;
      }
    }
    write_all(path, good);
  }
  EXPECT_EQ(load(folder / "c"), 1.0F);
}

/// Checksums are right, the text is not: anybody can compute them.
TEST(Checkpoint, TextOfAnotherFormIsNoticed) {
  namespace format = detail::checkpoint;
  const TemporaryFolder folder;
  save(folder / "c", state(1), "1");
  for (const std::string text :
       {"", "7", "[1,2", "{}", "[]", "[7]", "null", R"({"generation":"1","part_crcs":[1,2]})",
        R"({"generation":1,"part_crcs":"x"})", R"({"generation":1,"part_crcs":[1,-2]})",
        R"({"generation":1e300,"part_crcs":[1,2]})", R"({"before":7,"generation":1,"part_crcs":[1,2]})",
        R"({"before":[{"generation":1}],"generation":2,"part_crcs":[1,2]})", R"([{"name":"a"}])",
        R"([{"name":1,"offset":64,"bytes":4,"crc":1}])", R"([{"name":"a","offset":-64,"bytes":0,"crc":1}])"}) {
    for (const std::string ending : {"-0", "manifest"}) {
      const auto path = file_with(folder / "c", ending);
      const std::string good = read_all(path);
      write_all(path, format::with_header(text));
      const std::string message = error_of([&] { CheckpointReader(folder / "c").verify(); });
      EXPECT_TRUE(contains(message, path.filename().string())) << text << ": " << message;
      EXPECT_TRUE(ending == "-0" || contains(error_of([&] { save(folder / "c", state(2), "2"); }), "the manifest"))
          << text;
      write_all(path, good);
    }
  }
  EXPECT_EQ(load(folder / "c"), 1.0F);
}

TEST(Checkpoint, ANameThatIsNoTextIsAnError) {
  const TemporaryFolder folder;
  CheckpointPart part(folder / "c", 0);
  part.add("\xFF", std::span<const char>{});
  EXPECT_TRUE(contains(error_of([&] { part.write(); }), "UTF-8"));
}

TEST(Checkpoint, APartOfAnotherCheckpointIsNoticed) {
  const TemporaryFolder folder;
  save(folder / "one", state(1), "1");
  save(folder / "two", state(2), "2");
  for (const std::string ending : {"-0", "-1"}) {
    const auto path = file_with(folder / "one", ending);
    const std::string good = read_all(path);
    write_all(path, read_all(file_with(folder / "two", ending)));
    const std::string message = error_of([&] { CheckpointReader(folder / "one").verify(); });
    EXPECT_TRUE(contains(message, "differs from the manifest's")) << message;
    write_all(path, good);
  }
  EXPECT_EQ(load(folder / "one"), 1.0F);
}

TEST(Checkpoint, TruncationIsNoticedAtEveryLength) {
  const TemporaryFolder folder;
  save(folder / "c", state(1), "1");
  for (const std::string ending : {"-0", "-1", "manifest"}) {
    const auto path = file_with(folder / "c", ending);
    const std::string good = read_all(path);
    for (std::size_t length = 0; length < good.size(); length += length < 300 ? 1 : 61) {
      write_all(path, good.substr(0, length));
      const std::string message = error_of([&] { CheckpointReader(folder / "c").verify(); });
      if (length > 1000) {
        EXPECT_TRUE(contains(message, "section '") && contains(message, "truncated")) << message;
      }
    }
    write_all(path, good);
  }
}

TEST(Checkpoint, AbsentSectionsAndOtherSizesAreNamed) {
  const TemporaryFolder folder;
  save(folder / "c", state(1), "1");
  const CheckpointReader reader(folder / "c");
  std::vector<float> small(4);
  EXPECT_TRUE(contains(error_of([&] { reader.read("mlp", std::span(small)); }), "1332 bytes"));
  EXPECT_TRUE(contains(error_of([&] { (void)reader.bytes("table 9"); }), "table 9"));
  EXPECT_TRUE(contains(error_of([&] { CheckpointReader none(folder / "none"); }), "none"));
}

/// A child that saves one checkpoint after another, each with the next number, until it is killed.
class Saver {
 public:
  Saver(const std::filesystem::path& folder, int first) {
    if (::pipe(ends_.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    child_ = ::fork();
    if (child_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child_ == 0) save_on(folder, first);
    ::close(ends_[1]);
  }
  ~Saver() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(ends_[0]);
  }
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  /// Returns when the first save has ended, however slow the machine is; false where the child ended instead.
  [[nodiscard]] bool has_saved() const {
    char told = 0;
    return ::read(ends_[0], &told, 1) == 1;
  }

 private:
  [[noreturn]] void save_on(const std::filesystem::path& folder, int number) const {
    ::close(ends_[0]);
    for (;; ++number) {
      save(folder, state(static_cast<float>(number)), std::to_string(number), number % 3 != 0);
      if (::write(ends_[1], "s", 1) != 1) ::_exit(1);
    }
  }

  std::array<int, 2> ends_{};
  pid_t child_ = 0;
};

/// A child is killed at some moment of its second save or a later one: what is left is whole, and no save that ended is
/// lost.
TEST(Checkpoint, KillWhileSavingLeavesOldOrNew) {
  const TemporaryFolder folder;
  save(folder / "c", state(1), "1");
  float newest = 1;
  for (int round = 0; round < 40; ++round) {
    {
      const Saver saver(folder / "c", static_cast<int>(newest) + 1);
      ASSERT_TRUE(saver.has_saved());
      ::usleep(static_cast<useconds_t>(937 * round));
    }
    const float now = load(folder / "c");
    EXPECT_GT(now, newest);
    newest = now;
  }
}

}  // namespace
