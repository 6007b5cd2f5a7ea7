// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::commbench {

enum class Metric : std::uint8_t { latency, algorithm_bandwidth, bus_bandwidth };

struct PlotOptions {
  std::string input;   ///< a file that tutti-commbench --json wrote
  std::string output;  ///< the SVG to write
  Metric metric = Metric::latency;
  std::vector<std::string> operations;  ///< only these; empty: all
};

/// One line: medians over sizes.
struct Curve {
  std::string name;
  std::vector<double> x;  ///< bytes
  std::vector<double> y;  ///< microseconds or GB/s
};

/// The lines of one operation, datatype, reduction, memory kind and mode.
struct Panel {
  std::string title;
  std::vector<Curve> curves;
};

/// What was measured, where and when.
struct PlotHeading {
  std::string title;
  std::string notes;  ///< processor, MPI, ranks, date; what the document has of them
};

/// The heading of a document of --json. Throws std::invalid_argument where it is none.
[[nodiscard]] PlotHeading read_heading(const std::string& json_text, const PlotOptions& options);

/// The panels of a document of --json, in its order. Throws std::invalid_argument where it is none, or has no figures.
[[nodiscard]] std::vector<Panel> read_panels(const std::string& json_text, const PlotOptions& options);

/// Both axes are logarithmic; one colour a name in all panels. The document as text.
[[nodiscard]] std::string draw_panels(const std::vector<Panel>& panels, Metric metric, const PlotHeading& heading);

/// Reads, draws and writes. Throws what they throw, and tutti::Error (io) that names the file.
void plot(const PlotOptions& options);

}  // namespace tutti::commbench
