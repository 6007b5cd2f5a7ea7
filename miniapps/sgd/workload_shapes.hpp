// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sgd {

using Shape = std::vector<std::size_t>;

// The parameter shapes of known networks, in the order of registration (that of the forward pass), as torchvision and
// the BERT of Hugging Face register them: 62, 161 and 199 parameters.

/// ResNet-18 (He et al., CVPR 2016): two basic blocks a stage; 11.7 million values.
[[nodiscard]] std::vector<Shape> resnet18_shapes();
/// ResNet-50: 3, 4, 6 and 3 bottleneck blocks; 25.6 million values.
[[nodiscard]] std::vector<Shape> resnet50_shapes();
/// BERT-base, uncased (Devlin et al., NAACL 2019), with its pooler: 12 layers, width 768; 109.5 million values.
[[nodiscard]] std::vector<Shape> bert_base_shapes();
/// By name: resnet18, resnet50, bert. Throws tutti::Error (invalid_argument), which lists them.
[[nodiscard]] std::vector<Shape> workload_shapes(std::string_view name);

/// Values of one parameter; 1 for a scalar.
[[nodiscard]] std::size_t elements(const Shape& shape);
/// Values of all.
[[nodiscard]] std::size_t elements(const std::vector<Shape>& shapes);

}  // namespace sgd
