// SPDX-License-Identifier: BSD-3-Clause
#include "sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sgd {

namespace {

constexpr double mebi = 1048576;

Method without_communication(const Method& base) {
  Method method = base;
  method.name = method.mode = "none";
  return method;
}

}  // namespace

std::vector<std::size_t> sweep_sizes() {
  std::vector<std::size_t> sizes;
  for (const double size : {0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0}) {
    sizes.push_back(static_cast<std::size_t>(size * mebi));
  }
  return sizes;
}

Sweep measure_sweep(const tutti::Communicator& comm, Subject& subject, const Method& base) {
  Sweep sweep;
  std::vector<std::size_t> sizes = sweep_sizes();
  sizes.push_back(0);  // by measurement
  for (const std::size_t size : sizes) {
    Method method = base;
    method.name = method.mode = "overlap";
    method.bucket_bytes = size;
    const auto figures = subject.measure(comm, {without_communication(base), method}, Growth::weak);
    const std::size_t in_use = figures.back().bucket_bytes;
    // A task does not tell what it chose.
    if (size > 0 || in_use > 0) sweep.points.push_back({size == 0 ? in_use : size, size == 0, figures.back()});
  }
  Method flat = base;
  flat.name = flat.mode = "flat";
  sweep.levels = {subject.measure(comm, {without_communication(base), flat}, Growth::weak).back()};
  return sweep;
}

std::string sweep_text(const Sweep& sweep) {
  std::string text = fmt::format("{:<22}{:>10}{:>13}{:>9}\n", "buckets of at most", "step ms", "exposed ms", "buckets");
  for (const SweepPoint& point : sweep.points) {
    const std::string size =
        fmt::format("{:g} MiB{}", static_cast<double>(point.bucket_bytes) / mebi, point.is_chosen ? " (auto)" : "");
    text += fmt::format("{:<22}{:>10.2f}{:>13.2f}{:>9}\n", size, point.figures.step, point.figures.exposed,
                        point.figures.buckets);
  }
  for (const Figures& level : sweep.levels) {
    text += fmt::format("{:<22}{:>10.2f}{:>13.2f}\n", level.method.name, level.step, level.exposed);
  }
  return text;
}

}  // namespace sgd
