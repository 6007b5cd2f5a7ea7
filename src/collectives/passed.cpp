// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/passed.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "collectives/arguments.hpp"

namespace tutti::detail {
namespace {

/// The words for one of the two buffers.
struct BufferWords {
  const char* name;
  const char* counts;
  const char* displs;
  const char* same;
  const char* times;
  const char* own;
};
constexpr BufferWords words_of_send{"send",
                                    "send_counts",
                                    "send_displs",
                                    "the same as send",
                                    "send's elements times the number of ranks",
                                    "send_counts[rank]"};
constexpr BufferWords words_of_recv{"recv",
                                    "recv_counts",
                                    "recv_displs",
                                    "the same as recv",
                                    "recv's elements times the number of ranks",
                                    "recv_counts[rank]"};

/// One of the two buffers of a call.
template <typename AnyBuffer>
struct PassedBuffer {
  AnyBuffer& buffer;
  const BufferWords& words;
  BlockKind kind;
  Counts counts;
  Counts displs;

  [[nodiscard]] const char* name() const { return words.name; }
  [[nodiscard]] bool has_block_a_rank() const { return kind == BlockKind::each || kind == BlockKind::counted; }
  /// Blocks without displacements follow one another.
  [[nodiscard]] Touched touched() const {
    return {buffer.data, buffer.count, displs.empty() ? Counts{} : counts, displs};
  }
};

/// Checks one call. In place, the `holder` is the buffer that also has the elements of the other one, the `part`. Each
/// rank has a part; of a call with a root, only the root has the holder.
class CallCheck {
 public:
  CallCheck(const Communicator& comm, const Passed& passed)
      : passed_(passed), row_(traits_of(passed.operation)), args_(call_, comm, passed.operation, passed.options) {}

  CheckedCall make() && {
    take_mpi_in_place(passed_.send, passed_.recv);
    const PassedBuffer<ConstBuffer> send{passed_.send, words_of_send, row_.given, passed_.lists.send_counts,
                                         passed_.lists.send_displs};
    const PassedBuffer<Buffer> recv{passed_.recv, words_of_recv, row_.taken, passed_.lists.recv_counts,
                                    passed_.lists.recv_displs};
    if (row_.in_place == InPlaceSide::send)
      check(send, recv);
    else
      check(recv, send);
    bind_counts();
    return std::move(call_);
  }

 private:
  template <typename Part, typename Holder>
  void check(const PassedBuffer<Part>& part, const PassedBuffer<Holder>& holder);
  template <typename Part, typename Holder>
  void check_in_place(const PassedBuffer<Part>& part, const PassedBuffer<Holder>& holder);
  template <typename Part, typename Holder>
  void check_apart(const PassedBuffer<Part>& part, const PassedBuffer<Holder>& holder);
  template <typename Part, typename Holder>
  void check_lengths(const PassedBuffer<Part>& part, const PassedBuffer<Holder>& holder);
  template <typename AnyBuffer>
  void check_list(const PassedBuffer<AnyBuffer>& side) const;
  template <typename AnyBuffer>
  void set_count_of_blocks(const PassedBuffer<AnyBuffer>& side);
  void bind_counts();

  [[nodiscard]] bool has_holder() const { return !row_.has_root() || args_.is_root(); }
  [[nodiscard]] bool combines() const { return row_.combines(); }
  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(args_.rank()); }
  [[nodiscard]] std::size_t sum_of_counts() const {
    return std::accumulate(passed_.lists.recv_counts.begin(), passed_.lists.recv_counts.end(), std::size_t{0});
  }
  /// Returns true if the part is one block of the holder, this rank's own.
  template <typename Part, typename Holder>
  [[nodiscard]] static bool is_one_block(const PassedBuffer<Part>& part, const PassedBuffer<Holder>& holder) {
    return !part.has_block_a_rank() && holder.has_block_a_rank();
  }
  /// The place of the part in the holder.
  template <typename Part, typename Holder>
  [[nodiscard]] const void* own_block(const PassedBuffer<Part>& part, const PassedBuffer<Holder>& holder) const {
    if (!is_one_block(part, holder)) return holder.buffer.data;
    return element(holder.buffer,
                   holder.kind == BlockKind::each ? rank() * call_.signature.count : holder.displs[rank()]);
  }

  // Layouts are replaced by contiguous copies; calls with counts refuse them.
  void pack(const PassedBuffer<ConstBuffer>& send, const PassedBuffer<Buffer>& recv) {
    const bool is_written = row_.combined != Combined::before_own || args_.rank() > 0;
    if (has_holder()) args_.pack(recv.buffer, "recv", send.buffer.is_in_place, is_written);
    args_.pack(send.buffer, "send");
  }
  void pack(const PassedBuffer<Buffer>& recv, const PassedBuffer<ConstBuffer>& send) {
    if (has_holder()) args_.pack(send.buffer, "send");
    args_.pack(recv.buffer, "recv", false);
  }
  void set(const PassedBuffer<ConstBuffer>& send) { args_.set_input(send.buffer, "send"); }
  void set(const PassedBuffer<Buffer>& recv) { args_.set_output(recv.buffer, "recv"); }
  void set_in_place(const PassedBuffer<ConstBuffer>& /*send*/, const void* at) { args_.set_in_place_input(at); }
  // The block stays in place, so nothing is written to the caller's constant buffer.
  void set_in_place(const PassedBuffer<Buffer>& /*recv*/, const void* at) {
    args_.set_in_place_output(const_cast<void*>(at));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  void require_apart(const PassedBuffer<ConstBuffer>& send, const PassedBuffer<Buffer>& recv) const {
    args_.require_apart(send.touched(), recv.touched());
  }
  void require_apart(const PassedBuffer<Buffer>& recv, const PassedBuffer<ConstBuffer>& send) const {
    require_apart(send, recv);
  }

  const Passed& passed_;
  const OperationTraits& row_;
  CheckedCall call_{};
  Arguments args_;
};

template <typename Part, typename Holder>
void CallCheck::check(const PassedBuffer<Part>& part, const PassedBuffer<Holder>& holder) {
  const bool has_root = row_.has_root();
  if (has_root)
    args_.set_root(passed_.root);
  else
    args_.forbid_in_place(holder.buffer.is_in_place, holder.name(), "pass in_place as send");
  if (!row_.has_counts()) pack(part, holder);
  const bool is_in_place = part.buffer.is_in_place;
  if (is_in_place && !has_holder())
    args_.refuse(part.name(), fmt::format("is in_place on a rank that is not the root; pass {} there",
                                          row_.in_place == InPlaceSide::recv ? "a buffer"
                                          : combines()                       ? "the contribution"
                                                                             : "the block"));
  args_.set_type(has_root && !is_in_place ? part.buffer.type : holder.buffer.type);
  if (passed_.op != nullptr) args_.set_op(*passed_.op, row_.combined == Combined::all);
  if (has_holder() && holder.kind == BlockKind::counted) check_list(holder);
  if (combines() && row_.has_counts()) args_.require_counts(passed_.lists.recv_counts, "recv_counts");
  if (has_shared_counts(passed_.operation)) args_.set_count(sum_of_counts());
  if (is_in_place)
    check_in_place(part, holder);
  else
    check_apart(part, holder);
}

template <typename Part, typename Holder>
void CallCheck::check_in_place(const PassedBuffer<Part>& part, const PassedBuffer<Holder>& holder) {
  const std::size_t count = holder.buffer.count;
  if (combines() && row_.has_counts())
    args_.require_count(count, call_.signature.count, "recv", "in place: the whole vector, the sum of recv_counts");
  else if (has_equal_blocks(passed_.operation))
    set_count_of_blocks(holder);
  else if (!row_.has_counts())
    args_.set_count(count);
  set(holder);
  set_in_place(part, own_block(part, holder));
}

template <typename Part, typename Holder>
void CallCheck::check_apart(const PassedBuffer<Part>& part, const PassedBuffer<Holder>& holder) {
  if (!has_holder()) {
    if (!row_.has_counts()) args_.set_count(part.buffer.count);
    return set(part);
  }
  args_.require_same_type(passed_.send.type, passed_.recv.type);
  check_lengths(part, holder);
  set(holder);
  set(part);
  if (is_one_block(part, holder) && part.buffer.data == own_block(part, holder))
    set_in_place(part, part.buffer.data);
  else
    require_apart(part, holder);
}

template <typename Part, typename Holder>
void CallCheck::check_lengths(const PassedBuffer<Part>& part, const PassedBuffer<Holder>& holder) {
  const std::size_t given = part.buffer.count;
  const std::size_t held = holder.buffer.count;
  if (combines() && row_.has_counts()) {
    args_.require_count(given, call_.signature.count, "send", "the sum of recv_counts");
    args_.require_count(held, passed_.lists.recv_counts[rank()], "recv", "recv_counts[rank]");
  } else if (part.kind == BlockKind::counted) {
    check_list(part);
  } else if (part.kind == BlockKind::own) {
    args_.require_count(given, holder.counts[rank()], part.name(), holder.words.own);
  } else if (part.kind == holder.kind) {
    if (part.kind == BlockKind::each)
      set_count_of_blocks(holder);
    else
      args_.set_count(row_.has_root() ? given : held);
    if (!row_.has_root())
      args_.require_count(given, held, part.name(), holder.words.same);
    else
      args_.require_count(held, given, holder.name(), part.words.same);
  } else if (part.kind == BlockKind::one) {
    args_.set_count(given);
    args_.require_count(held, given * args_.size(), holder.name(), part.words.times);
  } else {
    args_.set_count(held);
    args_.require_count(given, held * args_.size(), part.name(), holder.words.times);
  }
}

template <typename AnyBuffer>
void CallCheck::check_list(const PassedBuffer<AnyBuffer>& side) const {
  args_.require_counts(side.counts, side.words.counts);
  args_.require_counts(side.displs, side.words.displs);
  args_.require_blocks(side.counts, side.displs, side.buffer.count, side.name());
}

template <typename AnyBuffer>
void CallCheck::set_count_of_blocks(const PassedBuffer<AnyBuffer>& side) {
  if (side.buffer.count % args_.size() != 0)
    args_.refuse(side.name(), combines() ? "must hold the whole vector in place, a multiple of the number of ranks"
                              : !row_.has_root()
                                  ? "has elements that do not divide by the number of ranks; pass one block per rank"
                                  : "has elements at the root that do not divide by the number of ranks; pass one "
                                    "block per rank");
  args_.set_count(side.buffer.count / args_.size());
}

/// The counts of a call that has them.
void CallCheck::bind_counts() {
  if (!row_.has_counts()) return;
  Binding& binding = call_.binding;
  if (row_.given == BlockKind::own)
    binding.send_count = has_holder() ? passed_.lists.recv_counts[rank()] : passed_.send.count;
  if (row_.taken == BlockKind::own) {
    const Counts counts = combines() ? passed_.lists.recv_counts : passed_.lists.send_counts;
    binding.recv_count = has_holder() ? counts[rank()] : passed_.recv.count;
  }
  static_cast<BlockLists&>(binding) = passed_.lists;
}

}  // namespace

CheckedCall checked_call(const Communicator& comm, const Passed& passed) { return CallCheck(comm, passed).make(); }

}  // namespace tutti::detail
