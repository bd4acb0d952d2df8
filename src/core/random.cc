#include "src/core/random.h"

#include <cmath>
#include <cstddef>

namespace hyper {
namespace {

uint32_t SecondWord(Purpose purpose, uint32_t a) { return static_cast<uint32_t>(purpose) | a << 8; }

uint64_t FirstTwoWords(const std::array<uint32_t, 4>& words) {
  return static_cast<uint64_t>(words[1]) << 32 | words[0];
}

}  // namespace

std::array<uint32_t, 4> Philox(uint64_t key, std::array<uint32_t, 4> counter) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53;
  constexpr uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9;
  constexpr uint32_t kWeyl1 = 0xBB67AE85;
  uint32_t key0 = static_cast<uint32_t>(key);
  uint32_t key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = kMultiplier0 * counter[0];
    const uint64_t product1 = kMultiplier1 * counter[2];
    counter = {
        static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
        static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

uint64_t PathKey(RandomKey root, uint64_t index) {
  return FirstTwoWords(
      Philox(root.run_seed,
             {static_cast<uint32_t>(root.question), static_cast<uint32_t>(root.question >> 32),
              static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32)}));
}

uint64_t ChildPathKey(uint64_t parent, uint32_t decision_step, uint32_t child) {
  return FirstTwoWords(Philox(parent, {decision_step, SecondWord(Purpose::kChild, 0), child, 0}));
}

double Uniform(uint64_t path_key, uint32_t position, Purpose purpose, uint32_t a, uint32_t b,
               uint32_t c) {
  // 52 bits, not 53: k + 0.5 must be exact, or the largest would round to 1.
  const uint64_t bits =
      FirstTwoWords(Philox(path_key, {position, SecondWord(purpose, a), b, c})) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

void GumbelRow(uint64_t path_key, uint32_t position, uint32_t layer, uint32_t route,
               std::span<float> out) {
  std::array<uint32_t, 4> words{};
  for (size_t expert = 0; expert < out.size(); ++expert) {
    if (expert % 4 == 0) {
      words = Philox(path_key, {position, SecondWord(Purpose::kRoute, layer), route,
                                static_cast<uint32_t>(expert / 4)});
    }
    const double uniform = (static_cast<double>(words[expert % 4]) + 0.5) * 0x1p-32;
    out[expert] = static_cast<float>(-std::log(-std::log(uniform)));
  }
}

}  // namespace hyper
