// SPDX-License-Identifier: BSD-3-Clause
// Gives the program that loads this before its main() numbers as a German's: 1.234,5. A program does the same by
// setlocale(LC_ALL, "") and std::locale::global(std::locale("")), for the whole process.
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <locale>

namespace {

struct Comma : std::numpunct<char> {
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

[[maybe_unused]] const bool is_set = [] {
  if (std::setlocale(LC_NUMERIC, "comma") == nullptr || std::strtod("0,5", nullptr) != 0.5) {
    std::fputs("no locale 'comma'; name its folder by LOCPATH\n", stderr);
    std::_Exit(1);
  }
  std::locale::global(std::locale(std::locale::classic(), new Comma));
  return true;
}();

}  // namespace
