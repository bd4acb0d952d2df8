#include "batch_rows.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "ggml-cpu-impl.h"
#include "vectors.h"

#ifdef HYPER_VECTORS
#include "batch_kernels.h"
#include "half_kernel.h"
#endif

namespace hyper_native {
namespace {

std::atomic<bool> enabled{true};
std::atomic<int64_t> computed{0};

#ifdef HYPER_VECTORS

constexpr int64_t kStrip = kColumns;            // columns of one call of a kernel
constexpr int64_t kStripsOfItem = 64 / kStrip;  // strips that a thread takes at a time

// Where a row comes from and goes to.
struct Place {
  int32_t in;      // row of the rounded input
  int32_t column;  // the result's second and third index
  int32_t row;
};

// The work buffer: rounded rows, then where each expert's rows begin, then their places.
template <typename Type>
struct Plan {
  using Row = typename Type::Row;

  explicit Plan(const ggml_tensor* op) : op(*op), weights(*op->src[0]), input(*op->src[1]) {}

  int64_t Blocks() const { return weights.ne[0] / Type::kBlock; }
  int64_t InputRows() const { return ggml_nrows(&input); }
  bool OfExperts() const { return op.op == GGML_OP_MUL_MAT_ID; }
  int64_t Experts() const { return OfExperts() ? weights.ne[2] : 1; }
  int64_t Places() const { return ggml_nrows(&op); }
  int64_t Strips() const { return (weights.ne[1] + kStrip - 1) / kStrip; }
  int64_t ItemsOfExpert() const { return (Strips() + kStripsOfItem - 1) / kStripsOfItem; }

  const char* Strip(int64_t expert, int64_t strip) const {
    return static_cast<const char*>(weights.data) + expert * weights.nb[2] +
           strip * kGroups * Blocks() * sizeof(typename Type::Block);
  }

  size_t RowsSize() const { return InputRows() * Blocks() * sizeof(Row); }
  size_t Size() const {
    return RowsSize() + (Experts() + 1) * sizeof(int64_t) + Places() * sizeof(Place);
  }
  Row* Rows(void* buffer) const { return static_cast<Row*>(buffer); }
  int64_t* Begins(void* buffer) const {
    return reinterpret_cast<int64_t*>(static_cast<char*>(buffer) + RowsSize());
  }
  Place* AllPlaces(void* buffer) const {
    return reinterpret_cast<Place*>(Begins(buffer) + Experts() + 1);
  }

  const ggml_tensor& op;
  const ggml_tensor& weights;
  const ggml_tensor& input;
};

template <typename Type>
void RoundRows(const Plan<Type>& plan, const ggml_compute_params* params) {
  const ggml_tensor& input = plan.input;
  typename Type::Row* rows = plan.Rows(params->wdata);
  for (int64_t i = params->ith; i < plan.InputRows(); i += params->nth) {
    const char* from = static_cast<const char*>(input.data) + i % input.ne[1] * input.nb[1] +
                       i / input.ne[1] * input.nb[2];
    for (int64_t b = 0; b < plan.Blocks(); ++b) {
      Type::RoundBlock(reinterpret_cast<const float*>(from) + b * Type::kBlock,
                       rows + i * plan.Blocks() + b);
    }
  }
}

// Sorts all rows by their expert, in the order of the batch.
template <typename Type>
void GroupByExpert(const Plan<Type>& plan, void* buffer) {
  int64_t* begins = plan.Begins(buffer);
  Place* places = plan.AllPlaces(buffer);
  if (!plan.OfExperts()) {
    begins[0] = 0;
    begins[1] = plan.Places();
    for (int64_t i = 0; i < plan.Places(); ++i) {
      places[i] = {static_cast<int32_t>(i), static_cast<int32_t>(i % plan.op.ne[1]),
                   static_cast<int32_t>(i / plan.op.ne[1])};
    }
    return;
  }
  const ggml_tensor& ids = *plan.op.src[2];
  const auto expert_of = [&](int64_t column, int64_t row) {
    const char* at = static_cast<const char*>(ids.data) + row * ids.nb[1] + column * ids.nb[0];
    const int32_t expert = *reinterpret_cast<const int32_t*>(at);
    GGML_ASSERT(expert >= 0 && expert < plan.Experts());
    return expert;
  };
  // begins[e + 1] counts, then is where expert e's next row goes, then where its rows end.
  std::fill_n(begins, plan.Experts() + 1, 0);
  for (int64_t row = 0; row < ids.ne[1]; ++row) {
    for (int64_t column = 0; column < ids.ne[0]; ++column) {
      ++begins[expert_of(column, row) + 1];
    }
  }
  int64_t sum = 0;
  for (int64_t e = 0; e < plan.Experts(); ++e) {
    const int64_t count = begins[e + 1];
    begins[e + 1] = sum;
    sum += count;
  }
  for (int64_t row = 0; row < ids.ne[1]; ++row) {
    for (int64_t column = 0; column < ids.ne[0]; ++column) {
      Place& place = places[begins[expert_of(column, row) + 1]++];
      place = {static_cast<int32_t>(row * plan.input.ne[1] + column % plan.input.ne[1]),
               static_cast<int32_t>(column), static_cast<int32_t>(row)};
    }
  }
}

// One strip times the `count` rows of its expert. `next` is the strip after it, or null.
template <typename Type>
void RunStrip(const Plan<Type>& plan, void* buffer, int64_t expert, int64_t strip, int64_t count,
              const char* next) {
  using Kernel = decltype(&Type::template Strip<1>);
  static constexpr auto kKernels = []<size_t... rows>(std::index_sequence<rows...>) {
    return std::array<Kernel, kMostRows>{Type::template Strip<rows + 1>...};
  }
  (std::make_index_sequence<kMostRows>());
  using Block = typename Type::Block;
  const int64_t blocks = plan.Blocks();
  const int columns = static_cast<int>(std::min(kStrip, plan.weights.ne[1] - strip * kStrip));
  const Block* left = reinterpret_cast<const Block*>(plan.Strip(expert, strip));
  const Block* right = columns > 8 ? left + blocks : left;  // a last group of eight, alone
  const typename Type::Row* rows = plan.Rows(buffer);
  const Place* places = plan.AllPlaces(buffer) + plan.Begins(buffer)[expert];
  const int64_t calls = (count + kMostRows - 1) / kMostRows;
  for (int64_t call = 0; call < calls; ++call) {
    const int64_t begin = count * call / calls;
    const int64_t end = count * (call + 1) / calls;
    const typename Type::Row* in[kMostRows];
    float* out[kMostRows];
    for (int64_t i = begin; i < end; ++i) {
      const Place& place = places[i];
      in[i - begin] = rows + place.in * blocks;
      out[i - begin] =
          reinterpret_cast<float*>(static_cast<char*>(plan.op.data) + place.column * plan.op.nb[1] +
                                   place.row * plan.op.nb[2]) +
          strip * kStrip;
    }
    kKernels[end - begin - 1](blocks, left, right, in, out, columns, call == 0 ? next : nullptr);
  }
}

// The strips of one expert that a thread takes at a time.
struct Item {
  int64_t expert = 0;
  int64_t first = 0;
  int64_t end = 0;  // `first` where nothing is left
};

// Deals out the items of all experts that have rows, one thread at a time.
template <typename Type>
class Items {
 public:
  Items(const Plan<Type>& plan, const ggml_compute_params* params)
      : plan_(plan), begins_(plan.Begins(params->wdata)), params_(*params), number_(params->ith) {}

  Item Next() {
    const int64_t items = plan_.ItemsOfExpert();
    while (expert_ < plan_.Experts() && (Empty() || number_ >= before_ + items)) {
      before_ += Empty() ? 0 : items;
      ++expert_;
    }
    if (expert_ == plan_.Experts()) {
      return {};
    }
    const int64_t first = (number_ - before_) * kStripsOfItem;
    number_ = ggml_threadpool_chunk_add(params_.threadpool, 1);
    return {expert_, first, std::min(first + kStripsOfItem, plan_.Strips())};
  }

 private:
  bool Empty() const { return begins_[expert_] == begins_[expert_ + 1]; }

  const Plan<Type>& plan_;
  const int64_t* begins_;
  const ggml_compute_params& params_;
  int64_t number_;      // of the next item
  int64_t expert_ = 0;  // where it may begin
  int64_t before_ = 0;  // items of the experts before
};

template <typename Type>
void Forward(const ggml_compute_params* params, const ggml_tensor* op) {
  const Plan<Type> plan(op);
  GGML_ASSERT(params->wsize >= plan.Size());
  RoundRows(plan, params);
  if (params->ith == 0) {
    GroupByExpert(plan, params->wdata);
    ggml_threadpool_chunk_set(params->threadpool, params->nth);
    CountOperation();
  }
  ggml_barrier(params->threadpool);
  const int64_t* begins = plan.Begins(params->wdata);
  Items<Type> items(plan, params);
  Item item = items.Next();
  while (item.first < item.end) {
    const Item next = items.Next();
    const int64_t begin = begins[item.expert];
    for (int64_t strip = item.first; strip < item.end; ++strip) {
      const char* fetched = strip + 1 < item.end    ? plan.Strip(item.expert, strip + 1)
                            : next.first < next.end ? plan.Strip(next.expert, next.first)
                                                    : nullptr;
      RunStrip(plan, params->wdata, item.expert, strip, begins[item.expert + 1] - begin, fetched);
    }
    item = next;
  }
}

bool Takes(Weights weights, const ggml_tensor* op) {
  return Enabled() && weights != Weights::kOther &&
         (op->op == GGML_OP_MUL_MAT || op->op == GGML_OP_MUL_MAT_ID) &&
         op->src[1]->type == GGML_TYPE_F32 && op->ne[3] == 1 && op->src[0]->ne[3] == 1 &&
         (op->op == GGML_OP_MUL_MAT_ID || op->src[0]->ne[2] == 1);
}

// Calls `use` with a value of the type that does the work.
template <typename Use>
void WithType(Weights weights, const Use& use) {
  if (weights == Weights::kQ4_0x8) {
    use(Q4_0());
  } else if (weights == Weights::kQ4_Kx8) {
    use(Q4_K());
  } else {
    use(F16());
  }
}

#endif

}  // namespace

#ifdef HYPER_VECTORS

bool BatchRowsWorkSize(Weights weights, const ggml_tensor* op, size_t& size) {
  if (!Takes(weights, op)) {
    return false;
  }
  WithType(weights, [&](auto type) { size = std::max(size, Plan<decltype(type)>(op).Size()); });
  return true;
}

bool ForwardBatchRows(Weights weights, const ggml_compute_params* params, ggml_tensor* op) {
  if (!Takes(weights, op)) {
    return false;
  }
  WithType(weights, [&](auto type) { Forward<decltype(type)>(params, op); });
  return true;
}

#else

bool BatchRowsWorkSize(Weights, const ggml_tensor*, size_t&) { return false; }

bool ForwardBatchRows(Weights, const ggml_compute_params*, ggml_tensor*) { return false; }

#endif

bool Enabled() { return enabled.load(std::memory_order_relaxed); }

void CountOperation() { computed.fetch_add(1, std::memory_order_relaxed); }

Weights PlainWeights(const ggml_tensor* op) {
  if (op->op != GGML_OP_MUL_MAT_ID || op->src[0]->type != GGML_TYPE_F16) {
    return Weights::kOther;
  }
  const ggml_tensor& experts = *op->src[0];
  const bool whole = experts.ne[0] % 16 == 0 && experts.ne[1] % 8 == 0;
  const bool dense = ggml_is_contiguous(&experts) && op->src[1]->nb[0] == sizeof(float);
  return whole && dense ? Weights::kF16 : Weights::kOther;
}

void AskForHugePages(void* begin, size_t size) {
  constexpr uintptr_t kPage = 4096;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + kPage - 1) / kPage * kPage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(begin) + size) / kPage * kPage;
  if (first < end) {
    madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);  // only a wish
  }
}

}  // namespace hyper_native

int64_t hyper_native_batch_rows(int on) {
  using hyper_native::enabled;
  if (on == 0 || on == 1) {
    enabled.store(on == 1, std::memory_order_relaxed);
  }
  return hyper_native::computed.load(std::memory_order_relaxed);
}
