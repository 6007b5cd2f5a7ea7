// SPDX-License-Identifier: BSD-3-Clause
// What the tests of saved collections share.
#pragma once

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "embedding_exercise.hpp"
#include "support/common_folder.hpp"

namespace tutti::test {

inline void save(const EmbeddingCollection& collection, const std::filesystem::path& where,
                 SaveKind kind = SaveKind::full) {
  save_checkpoint(
      world(), where, [&](CheckpointPart& part) { collection.add_to(part); }, kind);
}

/// A step without a look at its values. Rank 0 raises its gradients of the first table by `more`.
inline void train(Exercise& exercise, std::uint64_t k, float more = 0) {
  EmbeddingCollection& collection = exercise.collection;
  collection.start_forward(0, exercise.input(k));
  (void)collection.finish_forward(0);
  exercise.fill_gradients(k);
  const auto& gradients = collection.gradients(0).front();
  const std::size_t samples = world().rank() == 0 ? sample_slice(13, 0, world().size()).size() : 0;
  for (std::size_t i = 0; more != 0 && i < samples; ++i)
    for (std::size_t c = 0; c < collection.table(0).dim; ++c) gradients.data[i * gradients.stride + c] += more;
  collection.start_backward(0);
  collection.finish_backward(0, static_cast<float>(rate));
}

inline constexpr Sharding shardings[] = {Sharding::data_parallel, Sharding::table_wise, Sharding::row_wise,
                                         Sharding::column_wise, Sharding::row_wise_on_node};

/// The error of a call, which all ranks must get.
template <typename Call>
std::string error_of(const Call& call, ErrorCode code = ErrorCode::io) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code);
    return e.what();
  }
  return {};
}

inline std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Of the checkpoint, equal on all ranks: 1 where the last save was full.
inline std::size_t generations(const std::filesystem::path& folder) {
  const std::size_t count = CheckpointReader(folder).generations().size();
  barrier(world());
  return count;
}

/// The rows that a rank reads from a checkpoint into a collection of its own, in their bits.
inline std::vector<std::vector<float>> loaded_rows(const Setting& setting, const std::filesystem::path& folder) {
  Exercise loaded(world(), setting);
  loaded.collection.load(CheckpointReader(folder));
  train(loaded, 9);  // with the state of the optimizer
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < loaded.collection.shards().size(); ++i) {
    const TableShard& shard = loaded.collection.shards()[i];
    rows.emplace_back(static_cast<std::size_t>(shard.rows()) * shard.columns());
    loaded.collection.read_rows(i, shard.row_begin, shard.row_end, rows.back());
  }
  return rows;
}

/// Each file of one checkpoint has the bytes of its namesake in another.
inline void expect_same_files(const std::filesystem::path& a, const std::filesystem::path& b, const std::string& what) {
  for (const auto& entry : std::filesystem::directory_iterator(a)) {
    const auto name = entry.path().filename();
    EXPECT_TRUE(read_all(entry.path()) == read_all(b / name)) << name << what;
  }
  barrier(world());
}

/// A section that is read when the gate is open: until then the thread of a save stands before it.
class Gate {
 public:
  void add_to(CheckpointPart& part) const {
    part.add("gate of " + std::to_string(world().rank()), 1, DatatypeKind::bytes,
             [is_open = is_open_](std::uint64_t, std::span<std::byte> out) {
               is_open->wait(false);
               out[0] = std::byte{1};
             });
  }
  void open() const {
    is_open_->store(true);
    is_open_->notify_all();
  }

 private:
  std::shared_ptr<std::atomic<bool>> is_open_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace tutti::test
