// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <tutti/communicator.hpp>

#include "catalog.hpp"
#include "part.hpp"

namespace tutti::data {

/// Makes this rank's parts of an input that is read source by source, such as days or row groups. Keeps the reader of
/// the last source.
template <typename Input, typename Reader>
class PieceParser {
 public:
  PieceParser(const Communicator& comm, const Workspace& workspace, const Input& input, std::size_t tables)
      : rank_(static_cast<std::size_t>(comm.rank())),
        ranks_(static_cast<std::size_t>(comm.size())),
        workspace_(workspace),
        input_(input),
        writer_(tables) {}

  [[nodiscard]] Reader& reader_of(std::size_t source) {
    if (source_ != source || !reader_) {
      reader_.emplace(input_, source);
      source_ = source;
    }
    return *reader_;
  }

  /// Makes the part of a piece of a source, if it is this rank's: that of rank `owner` modulo the ranks.
  template <typename Piece>
  void run(const Piece& piece, std::size_t source, std::size_t owner) {
    const auto path = workspace_.part(piece.day, piece.number);
    if (owner % ranks_ != rank_ || std::filesystem::exists(path)) {
      return;
    }
    make_on_rank(rank_, [&] {
      Samples samples = reader_of(source).read(piece.first, piece.end);
      writer_.write(path, samples, piece.is_last);
    });
  }

 private:
  std::size_t rank_;
  std::size_t ranks_;
  const Workspace& workspace_;
  const Input& input_;
  PartWriter writer_;
  std::optional<Reader> reader_{};
  std::size_t source_ = 0;
};

}  // namespace tutti::data
