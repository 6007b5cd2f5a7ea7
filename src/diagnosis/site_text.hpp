// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "diagnosis/site.hpp"
#include "diagnosis/snapshot.hpp"

namespace tutti::detail {

/// A site as a flight recorder keeps it, in one line that is as short as its rows.
[[nodiscard]] std::string text_of(const SiteRecord& site);
/// The words of such a line, as words() gives them.
[[nodiscard]] std::string words_of(std::string_view text);

namespace flight {

/// Puts words in the place of the sites of calls that are not over, and takes the others away.
void find_places(Job& job);

}  // namespace flight
}  // namespace tutti::detail
