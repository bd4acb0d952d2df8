#include "src/eval/run/pool_hash.h"

#include <string_view>
#include <type_traits>
#include <variant>

#include "src/base/sha256.h"

namespace hyper::eval {
namespace {

// Texts with their lengths before them, so that two lists never give the same bytes.
class Fields {
 public:
  void Add(std::string_view text) {
    bytes_ += std::to_string(text.size()) + " ";
    bytes_ += text;
  }
  void Add(int64_t number) { Add(std::string_view(std::to_string(number))); }
  template <class Value>
  void Add(const std::vector<Value>& values) {
    static_assert(std::is_trivially_copyable_v<Value>);
    Add(std::string_view(reinterpret_cast<const char*>(values.data()),
                         values.size() * sizeof(Value)));
  }
  std::string Hash() const { return base::Sha256Of(bytes_); }

 private:
  std::string bytes_;
};

std::string EntryHash(const PoolEntry& entry) {
  Fields fields;
  for (const std::string& text :
       {entry.question.suite, entry.question.name, entry.question.text, entry.question.prompt,
        entry.question.kind, entry.question.labels}) {
    fields.Add(std::string_view(text));
  }
  fields.Add(int64_t{entry.item.key.repeat});
  fields.Add(entry.item.ledger.prefilled);
  for (const StoredPath& path : entry.item.paths) {
    for (const int64_t number :
         {int64_t{path.path}, int64_t{path.parent}, int64_t{path.tokens},
          static_cast<int64_t>(path.kind), static_cast<int64_t>(path.status)}) {
      fields.Add(number);
    }
    fields.Add(std::string_view(path.text));
  }
  for (const StoredSeries& series : entry.item.series) {
    fields.Add(int64_t{series.path});
    fields.Add(std::string_view(series.name));
    fields.Add(int64_t{series.first});
    fields.Add(static_cast<int64_t>(series.values.index()));
    std::visit([&](const auto& values) { fields.Add(values); }, series.values);
  }
  return fields.Hash();
}

}  // namespace

std::string PoolHash(const TracePool& pool) {
  Fields fields;
  for (const PoolEntry& entry : pool.entries) {
    fields.Add(std::string_view(EntryHash(entry)));
  }
  for (const auto& [token, piece] : pool.pieces) {
    fields.Add(int64_t{token});
    fields.Add(std::string_view(piece));
  }
  return "sha256:" + fields.Hash();
}

}  // namespace hyper::eval
