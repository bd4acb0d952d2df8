// Models by name: where each is to be had, and where a fetched one lies.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/result.h"

namespace hyper::app {

// A file of a hub that has been checked to be this model.
struct ModelSource {
  const char* name;
  const char* title;
  const char* terms;       // under which it may be used
  const char* repository;  // at the hub: OWNER/NAME
  const char* file;
  int64_t bytes;       // of the file
  const char* sha256;  // of the file, 64 lower-case hexadecimal digits
  int64_t cell_bytes;  // of a KV cell of type f16
};

// All of them, smallest first.
std::span<const ModelSource> ModelSources();

std::vector<std::string> ModelNames();

// Null where there is none of that name.
const ModelSource* FindModelSource(std::string_view name);

// Bytes of the weights and of 16,384 KV cells (16 paths of 1,024 tokens). Pure.
int64_t MemoryOf(const ModelSource& source);

// "2.5 GB", "98 MB". Pure.
std::string ByteText(int64_t bytes);

// Where fetched models lie: DataFolder()/models; empty where that is.
std::string ModelsFolder();

// What --model means: a file that exists, else the fetched model of that name, else, with a slash
// or the ending .gguf, a path all the same. Errors: kNotFound, with what may have been meant and
// the command that fetches it.
Result<std::string> FindModel(const std::string& given);

}  // namespace hyper::app
