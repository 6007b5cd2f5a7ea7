// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tutti/error.hpp>

namespace sgd {

namespace {

void require(bool condition, const std::string& message) {
  if (!condition) {
    throw tutti::Error(tutti::ErrorCode::invalid_argument, message);
  }
}

template <std::size_t N>
bool one_of(const std::string& value, const std::array<std::string_view, N>& choices) {
  return std::find(choices.begin(), choices.end(), value) != choices.end();
}

void validate_data(const Options& o) {
  require((o.data != "libsvm" && o.data != "csv") || !o.train_file.empty(), "--data=" + o.data + " needs --train-file");
}

void validate_training(const Options& o) {
  require(!o.nesterov || o.momentum > 0, "--nesterov needs --momentum above 0");
  require(o.optimizer == "sgd" || o.momentum == 0, "--momentum is of --optimizer=sgd only");
  require(o.save_freq == 0 || !o.checkpoint_dir.empty(), "--save-freq needs --checkpoint-dir");
}

void validate_server(const Options& o) {
  require(o.precision == "fp32", "--mode=parameter-server holds fp32 parameters; omit --precision=fp64");
  require(o.optimizer == "sgd" && o.momentum == 0 && o.weight_decay == 0 && o.clip == 0,
          "--mode=parameter-server updates by plain sgd; omit --optimizer, --momentum, --weight-decay and --clip");
}

void validate_communication(const Options& o) {
  constexpr std::array<std::string_view, 8> modes{"naive", "flat",  "bucketed",         "overlap",
                                                  "join",  "local", "parameter-server", "sharded"};
  constexpr std::array<std::string_view, 4> hooks{"none", "bf16", "fp16", "powersgd"};
  require(one_of(o.mode, modes), "--mode=" + o.mode +
                                     " is none of naive, flat, bucketed, overlap, join, local, parameter-server, "
                                     "sharded, hook=none, hook=bf16, hook=fp16, hook=powersgd");
  require(one_of(o.hook, hooks), "--hook=" + o.hook + " is not one of none, bf16, fp16, powersgd");
  require(o.hook == "none" || o.mode == "overlap" || o.mode == "bucketed" || o.mode == "join",
          "--hook is of --mode=bucketed, overlap or join, not of --mode=" + o.mode);
  require(!o.reproducible || (o.mode == "overlap" && o.hook == "none" && o.gradient_accumulation == 1),
          "--reproducible is of --mode=overlap, without --hook and --gradient-accumulation; elsewhere set "
          "TUTTI_REPRODUCIBLE=1 for the same bits on the same number of ranks");
  require(o.mode != "join" || o.gradient_accumulation == 1, "--mode=join has no --gradient-accumulation");
  if (o.mode == "parameter-server") {
    validate_server(o);
  }
  require(!o.compare || (o.load.empty() && o.checkpoint_dir.empty()), "--compare has no checkpoints");
}

}  // namespace

void validate(const Options& options) {
  validate_data(options);
  validate_training(options);
  validate_communication(options);
}

}  // namespace sgd
