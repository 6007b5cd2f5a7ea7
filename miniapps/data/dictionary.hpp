// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tutti/communicator.hpp>
#include <vector>

#include "common/data/id_table.hpp"
#include "common/data/sidecar.hpp"

namespace tutti::data {

/// Which row an id gets.
struct DictionaryRule {
  enum class Kind { first, frequency, hash, none, automatic };
  Kind kind = Kind::automatic;  ///< as the input is; before a Dictionary is made
  std::uint64_t threshold = 0;  ///< above 0: row 0 stands for ids that occur less often, and for unknown ones
  std::uint64_t hash_rows = 0;

  [[nodiscard]] bool has_rare_row() const { return threshold > 0 || kind == Kind::hash; }
  [[nodiscard]] const char* name() const;
};

/// The different ids of one part, in their order, and how often they occur.
struct IdList {
  std::span<const std::uint32_t> ids;
  std::span<const std::uint32_t> counts;
  std::uint64_t first_key = 0;  ///< the lists of earlier parts have so many ids of this table
};

/// The ids of all tables over all ranks: an id lives on the rank that its hash names, in 14 to 17 bytes. All functions
/// that take a communicator are collective over it and blocking, and every rank gets rows that do not depend on the
/// number of ranks.
class Dictionary {
 public:
  Dictionary(const Communicator& comm, std::size_t tables, DictionaryRule rule);

  /// Adds the ids of one part a rank, of all tables; without lists: nothing. Parts come in the order of the ranks, and
  /// calls in the order of the parts. `keys`: ids of the lists of all parts together, table by table.
  void add(const Communicator& comm, std::span<const IdList> lists, std::span<const std::uint64_t> keys);
  /// Gives each id of a table its row. `keys`: ids of the lists of all parts together; `rows`: of the table, 0: as many
  /// as ids need. Returns what the sidecar says about the table, on rank 0 with the hottest rows. Throws AgreedError
  /// (not_supported) for more than 2^31 - 1 rows.
  miniapps::SidecarTable number(const Communicator& comm, std::size_t table, std::uint64_t keys, std::uint64_t rows);
  /// The rows of the ids of one part a rank, table by table; without lists: nothing.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> rows(const Communicator& comm,
                                                             std::span<const IdList> lists) const;
  /// The ids of a table that have rows, by row, this rank's share of them: rows [first, first + ids.size()), counted
  /// without the row of rare ids.
  struct Share {
    std::uint64_t first = 0;
    std::vector<std::uint32_t> ids;
  };
  [[nodiscard]] Share share(const Communicator& comm, std::size_t table, std::uint64_t ids) const;

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t size() const;

 private:
  void number_by_first(const Communicator& comm, miniapps::IdTable& table, std::uint64_t keys, std::uint64_t& ids);
  void number_by_frequency(const Communicator& comm, miniapps::IdTable& table, std::uint64_t& ids);
  [[nodiscard]] bool is_rare(const miniapps::IdEntry& entry) const { return entry.count < rule_.threshold; }
  [[nodiscard]] std::uint32_t first_row() const { return rule_.has_rare_row() ? 1 : 0; }
  [[nodiscard]] std::uint32_t key_of(std::uint32_t id) const;

  void reserve(std::size_t table, std::uint64_t keys, std::uint64_t next);

  DictionaryRule rule_;
  std::vector<miniapps::IdTable> tables_;
  std::vector<double> new_share_;    ///< of the ids of each table that came last
  std::vector<std::uint64_t> come_;  ///< ids of each table so far
  std::vector<std::uint32_t> send_;  ///< kept, because new memory costs as much as the exchange
  std::vector<std::uint32_t> received_;
};

}  // namespace tutti::data
