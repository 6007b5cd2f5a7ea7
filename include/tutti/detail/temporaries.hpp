// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ranges>
#include <type_traits>

/// Nonblocking and persistent calls refuse temporary buffers, whose memory would be gone before the operation is done,
/// when they are compiled.
namespace tutti::detail {

/// An owning range that ends with the statement.
template <typename T>
concept Temporary = !std::is_lvalue_reference_v<T> && std::ranges::range<T> && !std::ranges::borrowed_range<T> &&
                    !std::ranges::view<std::remove_cvref_t<T>>;
template <typename... T>
concept AnyTemporary = (Temporary<T> || ...);

/// The body of the overloads of nonblocking and persistent calls that catch temporaries.
template <typename... T>
void refuse_temporary() {
  static_assert(!AnyTemporary<T...>,
                "this buffer is a temporary, which would be gone before the nonblocking or persistent call is done; "
                "give it a name that lives until then, or use the blocking call");
}

}  // namespace tutti::detail

/// Declares the overload of a call with one buffer that refuses a temporary one.
#define TUTTI_REFUSE_TEMPORARY(call)                                                         \
  template <typename Data, typename... Rest>                                                 \
  requires detail::AnyTemporary<Data> Request call(const Communicator&, Data&&, Rest&&...) { \
    detail::refuse_temporary<Data>();                                                        \
    return {};                                                                               \
  }

/// The same for a call with two buffers.
#define TUTTI_REFUSE_TEMPORARIES(call)                                                                     \
  template <typename Send, typename Recv, typename... Rest>                                                \
  requires detail::AnyTemporary<Send, Recv> Request call(const Communicator&, Send&&, Recv&&, Rest&&...) { \
    detail::refuse_temporary<Send, Recv>();                                                                \
    return {};                                                                                             \
  }

/// The same for a call with counts and displacements, which may be temporary, between its two buffers.
#define TUTTI_REFUSE_TEMPORARIES_BESIDE_COUNTS(call)                                                                 \
  template <typename Send, typename C, typename D, typename Recv, typename... Rest>                                  \
  requires detail::AnyTemporary<Send, Recv> Request call(const Communicator&, Send&&, C&&, D&&, Recv&&, Rest&&...) { \
    detail::refuse_temporary<Send, Recv>();                                                                          \
    return {};                                                                                                       \
  }
