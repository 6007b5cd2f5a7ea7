// SPDX-License-Identifier: BSD-3-Clause
#include "common/command_line/options.hpp"

#include "support/option_ranges.hpp"

namespace {

using namespace tutti::command_line;

enum class Kind : std::uint8_t { none, some };

/// What a program with every sort of option reads.
struct Read {
  int number = 3;
  double share = 0.5;
  std::vector<std::size_t> widths{4, 2};
  std::size_t size = 65536;
  std::size_t bucket = 0;
  std::vector<std::size_t> sizes{};
  Kind kind = Kind::none;
  std::vector<std::string> words{"a"};
  std::string file{};
  bool flag = false;
  int inner = 1;
};

Outcome read(Read& r, const std::vector<std::string>& arguments) {
  CLI::App app{"Shows every sort of option.\nRun it as: program"};
  app.name("program");
  add_number(app, "-n,--number", r.number, {1, 9}, "a number");
  add_number(app, "--share", r.share, {0, 1, false, true}, "a share");
  add_numbers(app, "--widths", r.widths, '-', {1, 1000}, "widths");
  add_bytes(app, "--size", r.size, {1, 1U << 20U}, "a size");
  add_bytes(app, "--bucket", r.bucket, {1, 1U << 20U}, "a size or auto", "auto");
  add_bytes_list(app, "--sizes", r.sizes, {1, 1U << 20U}, "sizes");
  add_choice<Kind>(app, "--kind", r.kind, {{"none", Kind::none}, {"some", Kind::some}}, "a kind");
  add_words(app, "--words", r.words, "words");
  add_text(app, "--file", r.file, "FILE", "a file");
  add_flag(app, "--flag", r.flag, "a flag");
  CLI::App* sub = app.add_subcommand("sub", "A subcommand");
  add_number(*sub, "--inner", r.inner, {0, 5}, "a number inside");
  CLI::App* second = app.add_subcommand("second", "Another one");
  second->add_option("input", r.file, "a file to read")->required();
  CLI::App* third = second->add_subcommand("third", "One inside");
  third->require_subcommand(1);
  third->add_subcommand("deep", "One that ends")->callback([] { throw CLI::RuntimeError(3); });
  add_helps(app, "program 1.0");
  return parse(app, arguments, [] {});
}

Outcome read(const std::vector<std::string>& arguments) {
  Read r;
  return read(r, arguments);
}

TEST(Options, AreReadAndTheLastCounts) {
  Read r;
  const Outcome outcome =
      read(r, {"--number=2", "-n", "7", "--share=0.25", "--widths=13-512-1", "--size", "64K", "--bucket=auto",
               "--sizes=4,8K", "--kind=some", "--words=x,y", "--file=f", "--flag", "sub", "--inner", "5"});
  ASSERT_FALSE(outcome.stop) << outcome.text;
  EXPECT_EQ(r.number, 7);
  EXPECT_DOUBLE_EQ(r.share, 0.25);
  EXPECT_EQ(r.widths, (std::vector<std::size_t>{13, 512, 1}));
  EXPECT_EQ(r.size, 65536U);
  EXPECT_EQ(r.bucket, 0U);
  EXPECT_EQ(r.sizes, (std::vector<std::size_t>{4, 8192}));
  EXPECT_EQ(r.kind, Kind::some);
  EXPECT_EQ(r.words, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(r.file, "f");
  EXPECT_TRUE(r.flag);
  EXPECT_EQ(r.inner, 5);
}

TEST(Options, RefuseWhatIsOutside) {
  tutti::command_line::testing::expect_ranges([](const auto& arguments) { return read(arguments); }, 11);
  EXPECT_EQ(read({"--number", "-1"}).text,
            "program: --number: '-1' is not a whole number in [1, 9] (see program --help)\n");
  EXPECT_EQ(read({"sub", "--inner=6"}).text,
            "program: --inner: '6' is not a whole number in [0, 5] (see program sub --help)\n");
  EXPECT_EQ(read({"--kind=other"}).text, "program: --kind: 'other' is none of none, some (see program --help)\n");
}

TEST(Options, ThatDoNotExistAreNamedWithTheMostSimilar) {
  EXPECT_EQ(read({"--nmber", "3", "4"}).text,
            "program: there is no option --nmber; did you mean --number? (see program --help)\n");
  EXPECT_EQ(read({"--all-words=x"}).text,
            "program: there is no option --all-words; did you mean --words? (see program --help)\n");
  EXPECT_EQ(read({"--zzz"}).text, "program: there is no option --zzz (see program --help)\n");
  EXPECT_EQ(read({"sub", "--iner", "2"}).text,
            "program: there is no option --iner; did you mean --inner? (see program sub --help)\n");
  EXPECT_EQ(read({"sub", "--sahre", "2"}).text,
            "program: there is no option --sahre; did you mean --share? (see program sub --help)\n");
}

TEST(Options, CommandsAndArgumentsThatAreMissingOrTooManyAreNamed) {
  EXPECT_EQ(read({"sbu"}).text, "program: there is no command 'sbu'; choose from sub, second (see program --help)\n");
  EXPECT_EQ(read({"sub", "x"}).text,
            "program: the argument 'x' is one too many; leave it out (see program sub --help)\n");
  EXPECT_EQ(read({"second"}).text, "program: argument input is missing: a file to read (see program second --help)\n");
  EXPECT_EQ(read({"second", "x", "third"}).text, "program: name a command: deep (see program second third --help)\n");
}

TEST(Options, ACommandThatHasSaidWhyEndsWithItsCodeAlone) {
  const Outcome outcome = read({"second", "x", "third", "deep"});
  EXPECT_TRUE(outcome.stop);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.text, "");
}

TEST(Options, AllAreInTheHelp) {
  tutti::command_line::testing::expect_help([](const auto& arguments) { return read(arguments); });
  const std::string help = read({"--help"}).text;
  for (const char* part :
       {"--number N=3", "a number [1, 9]", "--kind WORD=none", "a kind {none, some}", "=64K", "=auto"})
    EXPECT_NE(help.find(part), std::string::npos) << part << "\n" << help;
  EXPECT_EQ(help.find("--help-man"), std::string::npos);
}

TEST(Options, ManualAndCompletionNameAll) {
  const std::string manual = read({"--help-man"}).text;
  const std::string completion = read({"--help-bash"}).text;
  for (const char* name : {"number", "share", "widths", "size", "bucket", "sizes", "kind", "words", "file", "flag"}) {
    EXPECT_NE(manual.find(std::string("\\-\\-") + name), std::string::npos) << name;
    EXPECT_NE(completion.find(std::string("--") + name), std::string::npos) << name;
  }
  for (const char* part :
       {".TH PROGRAM 1", ".SH NAME\nprogram \\- ", ".SH SUB\n", "\\fB\\-\\-inner\\fR \\fIN\\fR", "Default: 3."})
    EXPECT_NE(manual.find(part), std::string::npos) << part << "\n" << manual;
  for (const char* part : {"compgen -W 'none some'", "compgen -f", "complete -o bashdefault -F _program program"})
    EXPECT_NE(completion.find(part), std::string::npos) << part << "\n" << completion;
}

}  // namespace
