// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of a call: its buffers between guards, the call itself, and the verdict on what it left.
#pragma once

#include <string>
#include <vector>

#include "fuzz/values.hpp"

namespace tutti::fuzz {

/// A communicator of the program, with memory that its ranks share. Invalid on ranks that are not in it.
struct Member {
  Communicator comm;
  std::size_t rank = 0;
  std::size_t size = 1;
  bool reproducible = false;
  Allocation memory;
  std::size_t used = 0;  ///< bytes of it

  [[nodiscard]] std::byte* take(std::size_t bytes);
};

/// Bytes between guards, in memory of their own or in the communicator's.
class Guarded {
 public:
  Guarded() = default;
  Guarded(Member* shared, std::size_t bytes, std::uint64_t seed);

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return image_.size() - 2 * margin; }
  /// The bytes that are expected; begins as the pattern of the guards.
  [[nodiscard]] std::byte* image() { return image_.data() + margin; }
  void reset();
  /// Copies the image into the buffer.
  void publish();
  /// The first byte that differs, relative to the start of the data, where `ignored` begins not; "" if none differs.
  [[nodiscard]] std::string difference(Datatype type, std::size_t ignored_from) const;

 private:
  static constexpr std::size_t margin = 128;
  std::uint64_t seed_ = 0;
  std::vector<std::byte> own_;
  std::vector<std::byte> image_;
  std::byte* data_ = nullptr;
};

class Running {
 public:
  Running(const Call& call, Member& member, const Setting& setting);

  /// Fills the buffers and makes the call, or only starts it. A persistent call is made by init() first.
  void init();
  void start(int round);
  [[nodiscard]] Request& request() { return request_; }
  [[nodiscard]] const Call& call() const { return call_; }
  /// What is wrong with the results; "" if nothing is.
  [[nodiscard]] std::string verify();
  /// The same of a call that has failed: its results are nobody's, but all else is as it was.
  [[nodiscard]] std::string verify_surroundings() const;

 private:
  void lay_out();
  void fill(int round);
  void expect();
  void make(CallForm form);
  void make_named(CallForm form, const Options& options);
  [[nodiscard]] ConstBuffer send() const;
  [[nodiscard]] Buffer recv() const;
  [[nodiscard]] std::vector<std::size_t> places(const std::vector<std::size_t>& counts, std::uint64_t salt,
                                                std::size_t& extent) const;

  const Call& call_;
  Member& member_;
  bool aliases_empty_;
  Turn turn_;
  std::vector<std::size_t> send_counts_, send_places_, recv_counts_, recv_places_;
  std::size_t send_extent_ = 0, recv_extent_ = 0;  ///< in elements
  std::vector<Piece> given_, expected_;
  Guarded send_, recv_;
  Request request_;
};

}  // namespace tutti::fuzz
