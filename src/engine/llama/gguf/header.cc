#include "src/engine/llama/gguf/header.h"

#include <ggml.h>
#include <gguf.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <set>

#include "src/base/utf8.h"

namespace hyper::llama {
namespace {

// More than any real model has; a broken count must not become an allocation.
constexpr uint64_t kMaxEntries = 1U << 20;
constexpr uint64_t kMaxNameBytes = 64U << 10;
constexpr uint64_t kMaxTextBytes = 64U << 20;

// Forward reader over a file that refuses to go past its end.
class Reader {
 public:
  Reader(std::ifstream& file, uint64_t size) : file_(file), size_(size) {}

  bool Bytes(void* into, uint64_t count) {
    if (count > size_ - position_) {
      return false;
    }
    file_.read(static_cast<char*>(into), static_cast<std::streamsize>(count));
    position_ += count;
    return file_.good();
  }

  bool Skip(uint64_t count) {
    if (count > size_ - position_) {
      return false;
    }
    position_ += count;
    file_.seekg(static_cast<std::streamoff>(position_));
    return file_.good();
  }

  template <class T>
  bool Number(T* into) {
    static_assert(std::endian::native == std::endian::little);
    return Bytes(into, sizeof(T));
  }

  bool Text(std::string* into, uint64_t limit) {
    uint64_t length = 0;
    if (!Number(&length) || length > limit || length > size_ - position_) {
      return false;
    }
    into->resize(length);
    return length == 0 || Bytes(into->data(), length);
  }

  uint64_t position() const { return position_; }

 private:
  std::ifstream& file_;
  uint64_t size_;
  uint64_t position_ = 0;
};

template <class T, class Wide>
std::optional<GgufValue> ReadScalar(Reader& reader) {
  T value{};
  if (!reader.Number(&value)) {
    return std::nullopt;
  }
  return GgufValue(static_cast<Wide>(value));
}

// A scalar or text of metadata type `type`; nothing when the file ends or the type is unknown.
std::optional<GgufValue> ReadValue(Reader& reader, uint32_t type) {
  switch (type) {
    case GGUF_TYPE_UINT8:
      return ReadScalar<uint8_t, uint64_t>(reader);
    case GGUF_TYPE_INT8:
      return ReadScalar<int8_t, int64_t>(reader);
    case GGUF_TYPE_UINT16:
      return ReadScalar<uint16_t, uint64_t>(reader);
    case GGUF_TYPE_INT16:
      return ReadScalar<int16_t, int64_t>(reader);
    case GGUF_TYPE_UINT32:
      return ReadScalar<uint32_t, uint64_t>(reader);
    case GGUF_TYPE_INT32:
      return ReadScalar<int32_t, int64_t>(reader);
    case GGUF_TYPE_UINT64:
      return ReadScalar<uint64_t, uint64_t>(reader);
    case GGUF_TYPE_INT64:
      return ReadScalar<int64_t, int64_t>(reader);
    case GGUF_TYPE_FLOAT32:
      return ReadScalar<float, double>(reader);
    case GGUF_TYPE_FLOAT64:
      return ReadScalar<double, double>(reader);
    case GGUF_TYPE_BOOL: {
      uint8_t value = 0;
      return reader.Number(&value) ? std::optional<GgufValue>(value != 0) : std::nullopt;
    }
    case GGUF_TYPE_STRING: {
      std::string value;
      return reader.Text(&value, kMaxTextBytes) ? std::optional<GgufValue>(std::move(value))
                                                : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

// An array: its numbers where they are whole, else an empty list.
std::optional<GgufValue> ReadArray(Reader& reader) {
  uint32_t type = 0;
  uint64_t count = 0;
  if (!reader.Number(&type) || !reader.Number(&count) || type == GGUF_TYPE_ARRAY) {
    return std::nullopt;
  }
  std::vector<int64_t> numbers;
  for (uint64_t i = 0; i < count; ++i) {
    const std::optional<GgufValue> element = ReadValue(reader, type);
    if (!element) {
      return std::nullopt;
    }
    if (const auto* whole = std::get_if<uint64_t>(&*element)) {
      numbers.push_back(static_cast<int64_t>(*whole));
    } else if (const auto* negative = std::get_if<int64_t>(&*element)) {
      numbers.push_back(*negative);
    }
  }
  return GgufValue(std::move(numbers));
}

Error Broken(const std::string& path, const std::string& reason) {
  return {ErrorCode::kDataLoss, "model file " + Quoted(path) + " is broken: " + reason +
                                    "; download or convert it again"};
}

// Reads the metadata; a reason in words on failure.
std::optional<std::string> ReadMetadata(Reader& reader, uint64_t count, GgufHeader* header) {
  for (uint64_t i = 0; i < count; ++i) {
    const std::string where =
        "metadata key " + std::to_string(i + 1) + " of " + std::to_string(count);
    std::string key;
    uint32_t type = 0;
    if (!reader.Text(&key, kMaxNameBytes) || !reader.Number(&type)) {
      return where + " is cut off";
    }
    if (key.empty()) {
      return where + " is empty";
    }
    std::optional<GgufValue> value =
        type == GGUF_TYPE_ARRAY ? ReadArray(reader) : ReadValue(reader, type);
    if (!value) {
      return "the value of " + Quoted(key) + " is cut off or of unknown type";
    }
    if (key == GGUF_KEY_GENERAL_ALIGNMENT && type != GGUF_TYPE_UINT32) {
      return std::string(GGUF_KEY_GENERAL_ALIGNMENT) + " is not stored as UINT32";
    }
    if (!header->values.emplace(key, std::move(*value)).second) {
      return "metadata key " + Quoted(key) + " occurs twice";
    }
  }
  return std::nullopt;
}

// Shape, type and size of one tensor; a reason in words on failure.
std::optional<std::string> ReadTensor(Reader& reader, GgufTensor* tensor) {
  uint32_t dimensions = 0;
  if (!reader.Text(&tensor->name, kMaxNameBytes) || !reader.Number(&dimensions)) {
    return "the list of tensors is cut off";
  }
  if (tensor->name.empty() || tensor->name.size() >= GGML_MAX_NAME || dimensions > GGML_MAX_DIMS) {
    return "tensor " + Quoted(tensor->name) + " has a wrong name or too many dimensions";
  }
  int64_t elements = 1;
  for (uint32_t d = 0; d < dimensions; ++d) {
    int64_t length = 0;
    if (!reader.Number(&length)) {
      return "the list of tensors is cut off";
    }
    if (length <= 0 || length > std::numeric_limits<int64_t>::max() / 64 / elements) {
      return "tensor " + Quoted(tensor->name) + " has an impossible shape";
    }
    elements *= length;
    tensor->shape.push_back(length);
  }
  int32_t type = 0;
  if (!reader.Number(&type) || !reader.Number(&tensor->offset)) {
    return "the list of tensors is cut off";
  }
  tensor->type = type;
  if (type < 0 || type >= GGML_TYPE_COUNT || ggml_blck_size(static_cast<ggml_type>(type)) <= 0) {
    return "tensor " + Quoted(tensor->name) + " has unknown type " + std::to_string(type);
  }
  const int64_t row = tensor->shape.empty() ? 1 : tensor->shape[0];
  if (row % ggml_blck_size(static_cast<ggml_type>(type)) != 0) {
    return "tensor " + Quoted(tensor->name) + " has rows that its type cannot hold";
  }
  tensor->bytes =
      ggml_row_size(static_cast<ggml_type>(type), row) * static_cast<uint64_t>(elements / row);
  return std::nullopt;
}

// Reads the list of tensors and checks it against the length of the file.
std::optional<std::string> ReadTensors(Reader& reader, uint64_t count, GgufHeader* header) {
  std::set<std::string> names;
  for (uint64_t i = 0; i < count; ++i) {
    GgufTensor tensor;
    if (std::optional<std::string> reason = ReadTensor(reader, &tensor)) {
      return reason;
    }
    if (!names.insert(tensor.name).second) {
      return "tensor " + Quoted(tensor.name) + " occurs twice";
    }
    header->tensors.push_back(std::move(tensor));
  }
  const auto alignment =
      static_cast<uint64_t>(header->Integer(GGUF_KEY_GENERAL_ALIGNMENT, GGUF_DEFAULT_ALIGNMENT));
  if (!std::has_single_bit(alignment)) {
    return "its alignment " + std::to_string(alignment) + " is not a power of two";
  }
  const uint64_t start = (reader.position() + alignment - 1) / alignment * alignment;
  const auto size = static_cast<uint64_t>(header->file_bytes);
  for (const GgufTensor& tensor : header->tensors) {
    if (tensor.offset % alignment != 0) {
      return "tensor " + Quoted(tensor.name) + " is not aligned";
    }
    if (start > size || tensor.offset > size - start ||
        tensor.bytes > size - start - tensor.offset) {
      return "it has " + std::to_string(size) + " bytes but tensor " + Quoted(tensor.name) +
             " needs " + std::to_string(start + tensor.offset + tensor.bytes) +
             " (an unfinished download?)";
    }
  }
  return std::nullopt;
}

// The size of a readable regular file.
Result<int64_t> FileBytes(const std::string& path) {
  struct stat info {};
  if (path.find('\0') != std::string::npos || stat(path.c_str(), &info) != 0) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument;
    return Error{code, "model file " + Quoted(path) + " cannot be opened: " + std::strerror(errno) +
                           "; check the path given as the model"};
  }
  if (!S_ISREG(info.st_mode)) {
    return InvalidArgument("model " + Quoted(path) + " is " +
                           (S_ISDIR(info.st_mode) ? "a folder" : "not a regular file") +
                           "; give the path of a .gguf file");
  }
  if (info.st_size == 0) {
    return Error{ErrorCode::kDataLoss,
                 "model file " + Quoted(path) + " is empty; give the path of a .gguf file"};
  }
  return static_cast<int64_t>(info.st_size);
}

}  // namespace

int64_t GgufHeader::Integer(const std::string& key, int64_t missing) const {
  const auto found = values.find(key);
  if (found == values.end()) {
    return missing;
  }
  if (const auto* whole = std::get_if<uint64_t>(&found->second)) {
    return static_cast<int64_t>(*whole);
  }
  if (const auto* negative = std::get_if<int64_t>(&found->second)) {
    return *negative;
  }
  const auto* list = std::get_if<std::vector<int64_t>>(&found->second);
  return list == nullptr || list->empty() ? missing : *std::max_element(list->begin(), list->end());
}

std::string GgufHeader::Text(const std::string& key, const std::string& missing) const {
  const auto found = values.find(key);
  const auto* text = found == values.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? missing : *text;
}

bool GgufHeader::IsList(const std::string& key) const {
  const auto found = values.find(key);
  return found != values.end() && std::holds_alternative<std::vector<int64_t>>(found->second);
}

Result<GgufHeader> ReadGgufHeader(const std::string& path) {
  const Result<int64_t> bytes = FileBytes(path);
  if (!bytes) {
    return bytes.error();
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return InvalidArgument("model file " + Quoted(path) +
                           " cannot be read: " + std::strerror(errno) + "; check its permissions");
  }
  GgufHeader header;
  header.file_bytes = *bytes;
  Reader reader(file, static_cast<uint64_t>(*bytes));
  std::array<char, 4> magic{};
  if (!reader.Bytes(magic.data(), magic.size()) ||
      std::memcmp(magic.data(), GGUF_MAGIC, magic.size()) != 0) {
    return Error{ErrorCode::kDataLoss,
                 "model file " + Quoted(path) +
                     " is not GGUF (wrong first bytes); convert it with llama.cpp's converter"};
  }
  uint32_t version = 0;
  uint64_t tensor_count = 0;
  uint64_t value_count = 0;
  if (!reader.Number(&version) || !reader.Number(&tensor_count) || !reader.Number(&value_count)) {
    return Broken(path, "it ends inside the header");
  }
  if (version < 2 || version > GGUF_VERSION) {
    return Broken(path, "GGUF version " + std::to_string(version) + " is not 2 or 3");
  }
  if (tensor_count > kMaxEntries || value_count > kMaxEntries) {
    return Broken(path, "its header claims " + std::to_string(tensor_count) + " tensors and " +
                            std::to_string(value_count) + " metadata keys");
  }
  if (std::optional<std::string> reason = ReadMetadata(reader, value_count, &header)) {
    return Broken(path, *reason);
  }
  if (std::optional<std::string> reason = ReadTensors(reader, tensor_count, &header)) {
    return Broken(path, *reason);
  }
  return header;
}

std::string Quoted(const std::string& text) { return '"' + base::OneLine(text) + '"'; }

}  // namespace hyper::llama
