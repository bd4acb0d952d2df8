#include "src/engine/llama/gguf/file_hash.h"

#include <bit>
#include <fstream>
#include <vector>

#include "src/base/sha256.h"
#include "src/engine/llama/gguf/header.h"

namespace hyper::llama {
namespace {

constexpr uint64_t kMebibyte = 1U << 20;
constexpr uint64_t kWholeFileBytes = 256 * kMebibyte;
constexpr uint64_t kHeadBytes = 16 * kMebibyte;
constexpr uint64_t kSamples = 64;

class FileHasher : public base::Sha256 {
 public:
  // Adds `count` bytes of the file from `begin` on; false when they cannot be read.
  bool AddRange(std::ifstream& file, uint64_t begin, uint64_t count) {
    file.seekg(static_cast<std::streamoff>(begin));
    for (uint64_t done = 0; done < count;) {
      const uint64_t step = std::min<uint64_t>(count - done, block_.size());
      if (!file.read(block_.data(), static_cast<std::streamsize>(step))) {
        return false;
      }
      Add({block_.data(), step});
      done += step;
    }
    return true;
  }

 private:
  std::vector<char> block_ = std::vector<char>(kMebibyte);
};

}  // namespace

Result<std::string> FileHash(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<uint64_t>(std::max<std::streamoff>(0, file.tellg()));
  FileHasher hasher;
  bool read = file.good();
  const bool whole = size <= kWholeFileBytes;
  if (whole) {
    read = read && hasher.AddRange(file, 0, size);
  } else {
    static_assert(std::endian::native == std::endian::little);
    hasher.Add({reinterpret_cast<const char*>(&size), sizeof(size)});
    read = read && hasher.AddRange(file, 0, kHeadBytes);
    const uint64_t stride = (size - kHeadBytes - kMebibyte) / (kSamples - 1);
    for (uint64_t i = 0; i < kSamples && read; ++i) {
      read = hasher.AddRange(file, kHeadBytes + i * stride, kMebibyte);
    }
  }
  if (!read) {
    return Error{ErrorCode::kNotFound,
                 "model file " + Quoted(path) + " cannot be read to the end; check the disk"};
  }
  return (whole ? "sha256:" : "sampled-sha256:") + hasher.Hex();
}

}  // namespace hyper::llama
