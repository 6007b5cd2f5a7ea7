// SPDX-License-Identifier: BSD-3-Clause
#include "traffic.hpp"

#include <algorithm>

namespace tutti::commbench {
namespace {

/// Adds messages to a shape, whose blocks lie one behind the other.
class Messages {
 public:
  Messages(Shape& shape, std::size_t elements) : shape_(shape), elements_(elements) {}

  void send(int to, int tag, std::size_t from) {
    shape_.messages.push_back({false, to, tag, from, elements_});
    shape_.send = std::max(shape_.send, from + elements_);
  }
  /// offset: where the block begins in the sender's buffer.
  void recv(int from, int tag, std::size_t offset) {
    shape_.messages.push_back({true, from, tag, shape_.recv, elements_});
    shape_.result.push_back({shape_.recv, elements_, from, from, offset});
    shape_.recv += elements_;
  }

 private:
  Shape& shape_;
  std::size_t elements_;
};

/// Tags tell the two messages apart that two ranks send one another where they are neighbours on both sides.
void make_sendrecv(std::size_t elements, const World& w, Messages& messages) {
  constexpr int up = 0;
  constexpr int down = 1;
  const int above = (w.rank + 1) % w.ranks;
  const int below = (w.rank + w.ranks - 1) % w.ranks;
  messages.send(above, up, 0);
  messages.send(below, down, elements);
  messages.recv(below, up, 0);
  messages.recv(above, down, elements);
}

void make_pairwise(const World& w, Messages& messages) {
  const int half = w.ranks / 2;
  if (w.rank >= 2 * half) return;
  const int partner = (w.rank + half) % (2 * half);
  messages.send(partner, 0, 0);
  messages.recv(partner, 0, 0);
}

void make_star(bool to_root, const World& w, Messages& messages) {
  const bool is_root = w.rank == w.root;
  const bool sends = to_root != is_root;
  for (int r = 0; r < w.ranks; ++r) {
    const bool is_peer = r != w.rank && (is_root || r == w.root);
    if (is_peer && sends) messages.send(r, 0, 0);
    if (is_peer && !sends) messages.recv(r, 0, 0);
  }
}

}  // namespace

Shape make_traffic_shape(Traffic traffic, std::size_t elements, const World& w) {
  Shape shape;
  shape.count = shape.total = elements;
  Messages messages(shape, elements);
  if (traffic == Traffic::sendrecv)
    make_sendrecv(elements, w, messages);
  else if (traffic == Traffic::pairwise)
    make_pairwise(w, messages);
  else
    make_star(traffic == Traffic::incast, w, messages);
  shape.largest = elements * static_cast<std::size_t>(bus_factor(traffic, w.ranks));
  return shape;
}

double bus_factor(Traffic traffic, int ranks) {
  if (traffic == Traffic::sendrecv) return 2;
  return traffic == Traffic::pairwise ? 1 : ranks - 1;
}

}  // namespace tutti::commbench
