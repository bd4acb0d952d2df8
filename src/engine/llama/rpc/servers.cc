#include "src/engine/llama/rpc/servers.h"

#include <ggml.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "hyper/llama_engine.h"
#include "src/engine/llama/gguf/header.h"
#include "src/engine/llama/rpc/address.h"

namespace hyper::llama {
namespace {

constexpr double kConnectSeconds = 10;
constexpr double kAutopsySeconds = 2;  // to find out which server was lost

// Servers that models of this process use, with the number of those models. ggml's abort callback
// carries no data, and a server that serves this process greets nobody else: hence one for all.
struct UsedServers {
  std::mutex mutex;
  std::map<std::string, int> models;
};

UsedServers& Used() {
  static UsedServers servers;
  return servers;
}

std::atomic<LostServerHandler>& Handler() {
  static std::atomic<LostServerHandler> handler = nullptr;
  return handler;
}

std::vector<std::string> UsedAddresses() {
  const std::lock_guard<std::mutex> lock(Used().mutex);
  std::vector<std::string> addresses;
  for (const auto& [address, models] : Used().models) {
    addresses.push_back(address);
  }
  return addresses;
}

// Which of the servers was lost, as far as a connection to each tells.
std::string DescribeLoss() {
  std::string lost;
  std::string all;
  int count = 0;
  for (const std::string& address : UsedAddresses()) {
    RpcProbe probe;
    const Result<RpcAddress> parsed = ParseRpcAddress(address);
    const std::optional<std::string> reason =
        parsed ? probe.Connect(*parsed, kAutopsySeconds) : std::nullopt;
    all += (all.empty() ? "" : ", ") + address;
    if (reason) {
      lost += (lost.empty() ? "" : ", ") + address + " (" + *reason + ")";
      ++count;
    }
  }
  if (count > 0) {
    return (count > 1 ? "RPC servers " : "RPC server ") + lost + " was lost during the run";
  }
  return "the connection to one of the RPC servers " + all +
         " broke during the run, although each can be reached again";
}

void OnAbort(const char* message) {
  // The callback must not come back: ggml would go on to abort(). Threads of several servers may
  // come here at once.
  static std::once_flag once;
  if (std::strstr(message, "ggml-rpc") == nullptr) {
    ggml_set_abort_callback(nullptr);
    ggml_abort("llama.cpp", 0, "%s", message);
  }
  std::call_once(once, [] {
    if (const LostServerHandler handler = Handler().load()) {
      handler({ErrorCode::kUnavailable, DescribeLoss()});
    }
  });
}

using AddServerFunction = ggml_backend_reg_t (*)(const char* address);

// ggml's function that takes a server in; null where it was built without RPC.
AddServerFunction FindAddServer() {
  ggml_backend_reg_t backend = ggml_backend_reg_by_name("RPC");
  return backend == nullptr ? nullptr
                            : reinterpret_cast<AddServerFunction>(ggml_backend_reg_get_proc_address(
                                  backend, "ggml_backend_rpc_add_server"));
}

Error Unusable(const std::string& address, const std::string& reason) {
  return {ErrorCode::kUnavailable, "RPC server " + address + " (--rpc) cannot be used: " + reason};
}

// Greets every server that this process does not use yet. Holds the connections until all are
// known, so that one server under two names is noticed.
Status GreetAll(const std::vector<std::string>& addresses) {
  const std::vector<std::string> used = UsedAddresses();
  std::vector<RpcProbe> probes;
  for (const std::string& text : addresses) {
    const Result<RpcAddress> address = ParseRpcAddress(text);
    if (!address) {
      return address.error();
    }
    if (std::find(used.begin(), used.end(), text) != used.end()) {
      continue;
    }
    RpcProbe first;
    RpcProbe& probe = probes.emplace_back();
    std::optional<std::string> reason = first.Connect(*address, kConnectSeconds);
    if (reason) {
      *reason += "; start ggml-rpc-server on that host and port, or correct --rpc";
    } else {
      reason = first.AwaitTurn(kConnectSeconds);
    }
    if (!reason) {
      reason = probe.Connect(*address, kConnectSeconds);
    }
    if (!reason) {
      reason = probe.Greet(kConnectSeconds);
    }
    if (reason) {
      return Unusable(text, *reason);
    }
  }
  return {};
}

}  // namespace

RpcServers::RpcServers(std::vector<std::string> addresses) : addresses_(std::move(addresses)) {
  const std::lock_guard<std::mutex> lock(Used().mutex);
  for (const std::string& address : addresses_) {
    ++Used().models[address];
  }
}

RpcServers::~RpcServers() {
  const std::lock_guard<std::mutex> lock(Used().mutex);
  for (const std::string& address : addresses_) {
    const auto entry = Used().models.find(address);
    if (--entry->second == 0) {
      Used().models.erase(entry);
    }
  }
}

Result<std::unique_ptr<RpcServers>> RpcServers::Connect(std::vector<std::string> addresses) {
  if (Status status = CheckRpcServers(addresses); !status) {
    return status.error();
  }
  const AddServerFunction add_server = FindAddServer();
  if (add_server == nullptr) {
    return Error{ErrorCode::kUnsupported,
                 "this program's llama.cpp has no RPC backend, which --rpc needs; build it with "
                 "cmake --preset release -DHYPER_LLAMA=source -DGGML_RPC=ON (docs/building.md)"};
  }
  if (Status status = GreetAll(addresses); !status) {
    return status.error();
  }
  if (Handler().load() != nullptr) {
    ggml_set_abort_callback(OnAbort);
  }
  std::unique_ptr<RpcServers> servers(new RpcServers(std::move(addresses)));
  for (const std::string& address : servers->addresses_) {
    ggml_backend_reg_t server = add_server(address.c_str());
    if (server == nullptr) {
      return Unusable(address, "it has no device; start ggml-rpc-server with one");
    }
    for (size_t i = 0; i < ggml_backend_reg_dev_count(server); ++i) {
      servers->devices_.push_back(ggml_backend_reg_dev_get(server, i));
    }
  }
  servers->remote_devices_ = servers->devices_.size();
  for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    if (ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_GPU) {
      servers->devices_.push_back(device);
    }
  }
  servers->devices_.push_back(nullptr);
  return servers;
}

double RpcServers::FreeBytes() const {
  double bytes = 0;
  for (size_t i = 0; i < remote_devices_; ++i) {
    size_t free = 0;
    size_t total = 0;
    ggml_backend_dev_memory(devices_[i], &free, &total);
    bytes += static_cast<double>(free);
  }
  return bytes;
}

}  // namespace hyper::llama

namespace hyper {

void SetLostServerHandler(LostServerHandler handler) { llama::Handler().store(handler); }

}  // namespace hyper
