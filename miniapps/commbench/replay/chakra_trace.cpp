// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "replay/formats.hpp"
#include "replay/messages_file.hpp"
#include "replay/torch_calls.hpp"

namespace tutti::commbench::replay {
namespace {

using nlohmann::json;

/// Fields and values of MLCommons Chakra's schema (schema/protobuf/et_def.proto, from version 0.0.4 on).
namespace schema {
enum Metadata : std::uint32_t { version = 1, metadata_attribute = 2 };
enum Node : std::uint32_t { name = 2, type = 3, start_micros = 6, duration_micros = 7, attribute = 10 };
enum Attribute : std::uint32_t { attribute_name = 1, text_value = 29 };
enum NodeType : std::uint64_t { computation = 4, send = 5, recv = 6, collective = 7 };
constexpr std::uint32_t first_zigzag = 15;  ///< sint32 to sint64, whose lowest bit is the sign
constexpr std::uint32_t last_zigzag = 18;
/// CollectiveCommType, by the names of PyTorch.
constexpr std::string_view collectives[] = {"all_reduce", "reduce",     "all_gather",     "gather",         "scatter",
                                            "broadcast",  "all_to_all", "reduce_scatter", "reduce_scatter", "barrier"};
}  // namespace schema

/// A whole number; what is not negative is unsigned, as in a text of JSON.
json number_of(const WireField& field) {
  const bool is_zigzag = field.number >= schema::first_zigzag && field.number <= schema::last_zigzag;
  const auto sign = is_zigzag ? -static_cast<std::int64_t>(field.value & 1U) : 0;
  const std::int64_t number = static_cast<std::int64_t>(is_zigzag ? field.value >> 1U : field.value) ^ sign;
  return number < 0 ? json(number) : json(static_cast<std::uint64_t>(number));
}

/// Adds a named attribute: texts and whole numbers; lists and numbers with a point are of no use here.
bool read_attribute(std::string_view message, json& into) {
  WireReader reader(message);
  std::string name;
  json value;
  while (const auto field = reader.next()) {
    if (field->number == schema::attribute_name)
      name = field->bytes;
    else if (field->number == schema::text_value)
      value = field->bytes;
    else if (!field->has_bytes)
      value = number_of(*field);
  }
  if (!value.is_null()) into[name] = std::move(value);
  return !reader.is_wrong();
}

/// A node as an object: its own fields begin with a dot, which no attribute has.
std::optional<json> read_node(std::string_view message) {
  WireReader reader(message);
  json node = {{".name", ""}, {".type", 0}, {".start", 0}, {".duration", 0}};
  bool is_right = true;
  while (const auto field = reader.next()) {
    if (field->number == schema::name) node[".name"] = field->bytes;
    if (field->number == schema::type) node[".type"] = field->value;
    if (field->number == schema::start_micros) node[".start"] = field->value;
    if (field->number == schema::duration_micros) node[".duration"] = field->value;
    if (field->number == schema::attribute) is_right = read_attribute(field->bytes, node) && is_right;
  }
  return is_right && !reader.is_wrong() ? std::optional<json>(std::move(node)) : std::nullopt;
}

bool is_metadata(std::string_view message) {
  WireReader reader(message);
  while (const auto field = reader.next())
    if (!field->has_bytes || field->number > schema::metadata_attribute) return false;
  return !reader.is_wrong();
}

class ChakraReader {
 public:
  ChakraReader(const std::string& path, int rank, int ranks)
      : file_(path), rank_(rank), calls_("chakra", rank, ranks) {}

  Recording read() {
    const auto head = file_.next();
    if (!head || head->empty() || !is_metadata(*head))
      file_.fail("is no metadata of Chakra, with which its traces begin");
    while (const auto message = file_.next()) {
      const auto node = read_node(*message);
      if (!node) file_.fail("is no node of Chakra; is the file whole?");
      read_node_of_rank(Record(file_, *node));
    }
    return calls_.take(true);
  }

 private:
  /// A trace that was not recorded but made has lengths and no times: its nodes follow one another.
  void read_node_of_rank(const Record& node) {
    const double length = node.seconds(".duration", microsecond);
    const double start = node.seconds(".start", microsecond);
    const double begin = start > 0 ? start : made_until_;
    made_until_ = std::max(made_until_, begin + length);
    switch (node.number(".type")) {
      case schema::collective:
        return read_collective(node, begin, length);
      case schema::send:
      case schema::recv:
        return read_message(node, begin, length, node.number(".type") == schema::recv);
      default:
        return;
    }
  }

  static TorchRecord record_of(const Record& node, double begin, double length) {
    TorchRecord call;
    call.begin = begin;
    if (length > 0) call.length = length;
    call.group = node.text("pg_name", "");
    call.type = "uint8";
    call.sizes.in = node.has("comm_size") ? node.count("comm_size") : 0;
    return call;
  }

  /// A trace tells bytes and no datatype: what is added up are floats where the bytes are.
  void read_collective(const Record& node, double begin, double length) {
    const std::int64_t kind = node.number("comm_type", 0);  // 0 is written as nothing by some writers
    if (kind < 0 || static_cast<std::size_t>(kind) >= std::size(schema::collectives))
      node.fail("comm_type", "a collective of Chakra's, from 0 to 9");
    TorchRecord call = record_of(node, begin, length);
    call.name = schema::collectives[kind];
    const TorchCall found = find_torch_call(call.name);
    if (found.operation != Operation::barrier && !node.has("comm_size")) node.fail("comm_size", "a number of bytes");
    if (traits_of(found.operation).combines() && call.sizes.in % sizeof(float) == 0) {
      call.type = "float32";
      call.sizes.in /= sizeof(float);
    }
    calls_.add(node, std::move(call));
  }

  void read_message(const Record& node, double begin, double length, bool is_recv) {
    TorchRecord call = record_of(node, begin, length);
    const std::int64_t peer = node.number(is_recv ? "comm_src" : "comm_dst", -1);
    if (peer < 0) return calls_.leave_out(is_recv ? "recv without comm_src" : "send without comm_dst");
    const std::int64_t self = node.number(is_recv ? "comm_dst" : "comm_src", rank_);
    if (self != rank_) return;  // one trace of all ranks
    call.name = is_recv ? "recv" : "send";
    call.peer = static_cast<int>(peer);
    call.tag = static_cast<int>(node.number("comm_tag", 0));
    calls_.add(node, std::move(call));
  }

  MessagesFile file_;
  int rank_;
  TorchCalls calls_;
  double made_until_ = 0;
};

}  // namespace

bool is_chakra_trace(const std::string& path) {
  MessagesFile file(path);
  try {
    const auto head = file.next();
    return head && !head->empty() && is_metadata(*head);
  } catch (const std::invalid_argument&) {
    return false;
  }
}

Recording read_chakra_trace(const std::string& path, int rank, int ranks) {
  return ChakraReader(path, rank, ranks).read();
}

}  // namespace tutti::commbench::replay
