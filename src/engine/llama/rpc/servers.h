// llama.cpp's RPC backend: the layers of a model on other hosts, with a ggml-rpc-server each.
#pragma once

#include <ggml-backend.h>

#include <memory>
#include <string>
#include <vector>

#include "hyper/result.h"

namespace hyper::llama {

// The servers of one model, which must not outlive it.
class RpcServers {
 public:
  // Checks that each of `addresses` answers, and takes its devices; LoadBackends was called before.
  // Errors: kInvalidArgument (no addresses, or one twice), kUnsupported (a llama.cpp without RPC),
  // kUnavailable (a server that does not answer, is in use or of another version).
  static Result<std::unique_ptr<RpcServers>> Connect(std::vector<std::string> addresses);
  ~RpcServers();
  RpcServers(const RpcServers&) = delete;
  RpcServers& operator=(const RpcServers&) = delete;

  // What llama_model_params.devices takes: the servers' in the order given, then the GPUs of this
  // machine, then null.
  std::vector<ggml_backend_dev_t>& devices() { return devices_; }
  // Free memory of the servers' devices, in bytes. Asks them.
  double FreeBytes() const;

 private:
  explicit RpcServers(std::vector<std::string> addresses);

  std::vector<std::string> addresses_;
  std::vector<ggml_backend_dev_t> devices_;
  size_t remote_devices_ = 0;
};

}  // namespace hyper::llama
