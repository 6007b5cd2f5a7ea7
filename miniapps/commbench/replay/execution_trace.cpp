// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include "replay/formats.hpp"
#include "replay/torch_calls.hpp"

namespace tutti::commbench::replay {
namespace {

using nlohmann::json;

/// The values of a node: "inputs" is a list up to schema 1.0.2, later an object that has one.
const json* values_in(const Record& node, const char* side) {
  if (!node.has(side)) return nullptr;
  const json& all = node.value()[side];
  if (all.is_array()) return &all;
  return all.is_object() && all.contains("values") && all["values"].is_array() ? &all["values"] : nullptr;
}

/// Elements of the tensors in a value: [id, storage, offset, elements, bytes, device], or lists of these.
std::size_t elements_in(const json& value) {
  if (!value.is_array()) return 0;
  const bool is_tensor = value.size() >= 6 && value[3].is_number_unsigned() && value[5].is_string();
  if (is_tensor) return value[3].get<std::size_t>();
  std::size_t sum = 0;
  for (const json& one : value) sum += elements_in(one);
  return sum;
}

std::vector<std::size_t> numbers_in(const json& value) {
  const json list = value.is_string() ? json::parse(value.get<std::string>(), nullptr, false) : value;
  std::vector<std::size_t> numbers;
  if (list.is_array())
    for (const json& one : list)
      if (one.is_number_unsigned()) numbers.push_back(one.get<std::size_t>());
  return numbers;
}

/// The attributes of a node of a later schema, by name.
json attributes_of(const Record& node) {
  json all = json::object();
  if (!node.has("attrs") || !node.value()["attrs"].is_array()) return all;
  for (const json& one : node.value()["attrs"])
    if (one.is_object() && one.contains("name") && one["name"].is_string() && one.contains("value"))
      all[one["name"].get<std::string>()] = one["value"];
  return all;
}

class ExecutionReader {
 public:
  ExecutionReader(JsonFile& file, int rank, int ranks)
      : file_(file), rank_(rank), calls_("execution trace", rank, ranks) {}

  Recording read() {
    constexpr int depth_of_nodes = 2;
    file_.read(depth_of_nodes, [this](int depth, const json& object) {
      if (depth != depth_of_nodes || !object.contains("name")) return;
      const Record node(file_, object);
      const std::string name = node.text("name");
      if (name == "record_param_comms") read_call(node);
      if (name.find("process_group:init") != std::string::npos) read_groups(node);
    });
    return calls_.take(false);
  }

 private:
  /// The only input is a JSON text. One that is cut makes no group known.
  void read_groups(const Record& node) {
    const json* values = values_in(node, "inputs");
    if (values == nullptr || values->empty() || !values->front().is_string()) return;
    const json groups = json::parse(values->front().get<std::string>(), nullptr, false);
    if (!groups.is_array()) return;
    for (const json& one : groups) {
      if (!one.is_object()) continue;
      const Record group(file_, one);
      std::vector<int> members = group.has("ranks") ? group.ranks("ranks") : std::vector<int>{};
      if (members.empty() && group.has("group_size")) {
        members.resize(group.count("group_size"));
        std::iota(members.begin(), members.end(), 0);
      }
      for (const char* key : {"pg_name", "uid", "backend_id"})
        if (group.has(key)) groups_[text_of(one[key])] = members;
    }
  }

  static std::string text_of(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

  /// [tensors,] request, process group, rank, name, splits in, splits out, ...: the tensors are not there in a wait.
  void read_call(const Record& node) {
    const json* inputs = values_in(node, "inputs");
    if (inputs == nullptr) node.fail("inputs", "a list of values");
    const json attributes = attributes_of(node);
    const std::size_t name_at = place_of_name(*inputs, attributes);
    if (name_at < 3 || name_at >= inputs->size()) node.fail("inputs", "a request, a process group, a rank and a name");
    const auto at = [&](std::size_t i) -> const json& { return (*inputs)[i]; };
    TorchRecord call;
    call.name = at(name_at).get<std::string>();
    call.request = at(name_at - 3).dump();
    const json& group = at(name_at - 2);
    call.group = group.is_array() && !group.empty() ? text_of(group.front()) : text_of(group);
    if (const auto known = groups_.find(call.group); known != groups_.end()) call.members = known->second;
    const int rank = at(name_at - 1).is_number_integer() ? at(name_at - 1).get<int>() : 0;
    call.root = rank;
    read_sizes(node, *inputs, name_at, attributes, call);
    read_peer(attributes, rank, call);
    calls_.add(node, std::move(call));
  }

  static std::size_t place_of_name(const json& inputs, const json& attributes) {
    const json name = attributes.value("collective_name", json());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].is_string() && (name.is_null() || inputs[i] == name)) return i;
    return inputs.size();
  }

  static void read_sizes(const Record& node, const json& inputs, std::size_t name_at, const json& attributes,
                         TorchRecord& call) {
    const json* outputs = values_in(node, "outputs");
    call.sizes.in = attributes.contains("in_msg_nelems") ? attributes["in_msg_nelems"].get<std::size_t>()
                    : name_at > 3                        ? elements_in(inputs[0])
                                                         : 0;
    call.sizes.out = attributes.contains("out_msg_nelems") ? attributes["out_msg_nelems"].get<std::size_t>()
                     : outputs != nullptr                  ? elements_in(*outputs)
                                                           : 0;
    if (attributes.contains("in_split_size")) {
      call.sizes.in_split = numbers_in(attributes["in_split_size"]);
      call.sizes.out_split = numbers_in(attributes.value("out_split_size", json()));
    } else if (name_at + 2 < inputs.size()) {
      call.sizes.in_split = numbers_in(inputs[name_at + 1]);
      call.sizes.out_split = numbers_in(inputs[name_at + 2]);
    }
    call.type = attributes.contains("dtype") ? text_of(attributes["dtype"]) : type_of_tensor(node);
    if (attributes.contains("pg_size") && attributes.contains("pg_name"))
      call.ranks = attributes["pg_size"].get<std::size_t>();
  }

  /// "GenericList[Tensor(float)]".
  static std::string type_of_tensor(const Record& node) {
    const json* types = node.has("input_types") ? &node.value()["input_types"] : nullptr;
    if (types == nullptr || !types->is_array() || types->empty() || !types->front().is_string()) return {};
    const auto text = types->front().get<std::string>();
    const auto begin = text.find("Tensor(");
    return begin == std::string::npos ? std::string{} : text.substr(begin, text.find(')', begin) - begin + 1);
  }

  /// The rank of a message is that of the peer in the communicator.
  void read_peer(const json& attributes, int rank, TorchRecord& call) const {
    const bool is_send = find_torch_call(call.name).kind == TorchKind::send;
    const char* name = is_send ? "dst_rank" : "src_rank";
    if (attributes.contains(name) && attributes[name].is_number_integer())
      call.peer = attributes[name].get<int>();
    else if (rank >= 0 && static_cast<std::size_t>(rank) < call.members.size())
      call.peer = call.members[static_cast<std::size_t>(rank)];
    else
      call.peer = rank;
  }

  JsonFile& file_;
  int rank_;
  TorchCalls calls_;
  std::map<std::string, std::vector<int>> groups_{};
};

}  // namespace

Recording read_execution_trace(JsonFile& file, int rank, int ranks) {
  return ExecutionReader(file, rank, ranks).read();
}

}  // namespace tutti::commbench::replay
