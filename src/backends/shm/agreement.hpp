// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace tutti::detail::shm {

struct CellUse;
struct Exchange;
struct Record;

/// For a rank that waits: throws Error(mismatch) if another rank makes another call at this turn, has made other calls
/// before it, or has refused it. mine: this rank's call. who: begins the text.
void check_agreement(const CellUse& use, const Record& mine, int rank, const std::function<std::string()>& who);

/// Throws Error(mismatch): rank `from` gives rank `to` a block of `given` bytes, and that rank expects `taken`.
[[noreturn]] void throw_sizes_differ(const Exchange& exchange, int from, int to, std::size_t given, std::size_t taken);

/// As throw_sizes_differ, but by the words that both ranks of a v-form have written about the block; does nothing if
/// they agree.
void check_sizes(const Exchange& exchange, int from, int to);

}  // namespace tutti::detail::shm
