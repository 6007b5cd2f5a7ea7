// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace dlrm {

struct Preset {
  std::string name;
  std::string summary;
  std::vector<std::string> flags;  ///< what `--preset name` stands for
};

/// All presets, in the order in which --help lists them.
[[nodiscard]] const std::vector<Preset>& presets();

/// The preset of a name, or null if there is none.
[[nodiscard]] const Preset* find_preset(const std::string& name);

/// "adult, kaggle, ...".
[[nodiscard]] std::string preset_names();

}  // namespace dlrm
