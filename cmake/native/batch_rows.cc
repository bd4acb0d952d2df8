#include "batch_rows.h"

#include <algorithm>
#include <atomic>

#include "ggml-cpu-impl.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX512VNNI__) && defined(__F16C__)
#define HYPER_BATCH_ROWS 1
#include "batch_kernels.h"
#endif

namespace hyper_native {
namespace {

std::atomic<bool> enabled{true};
std::atomic<int64_t> computed{0};

#ifdef HYPER_BATCH_ROWS

constexpr int64_t kStrip = 16;        // columns of one call of a kernel
constexpr int64_t kStripsOfItem = 4;  // strips that a thread takes at a time

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
    Type::Round(reinterpret_cast<const float*>(from), rows + i * plan.Blocks(), input.ne[0]);
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

// One strip times the rows at `places`.
template <typename Type>
void RunStrip(const Plan<Type>& plan, const typename Type::Row* rows, const char* expert,
              int64_t strip, const Place* places, int64_t count, const char* next) {
  using Kernel = decltype(&Type::template Strip<1>);
  static constexpr Kernel kKernels[kMostRows] = {Type::template Strip<1>, Type::template Strip<2>,
                                                 Type::template Strip<3>, Type::template Strip<4>,
                                                 Type::template Strip<5>, Type::template Strip<6>,
                                                 Type::template Strip<7>, Type::template Strip<8>};
  using Block = typename Type::Block;
  const int64_t blocks = plan.Blocks();
  const int columns = static_cast<int>(std::min(kStrip, plan.weights.ne[1] - strip * kStrip));
  const Block* left = reinterpret_cast<const Block*>(expert) + strip * 2 * blocks;
  const Block* right = columns == kStrip ? left + blocks : left;  // a last group of eight, alone
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

template <typename Type>
void Forward(const ggml_compute_params* params, const ggml_tensor* op) {
  const Plan<Type> plan(op);
  GGML_ASSERT(params->wsize >= plan.Size());
  RoundRows(plan, params);
  if (params->ith == 0) {
    GroupByExpert(plan, params->wdata);
    ggml_threadpool_chunk_set(params->threadpool, params->nth);
    computed.fetch_add(1, std::memory_order_relaxed);
  }
  ggml_barrier(params->threadpool);
  const int64_t* begins = plan.Begins(params->wdata);
  const int64_t items = plan.ItemsOfExpert();
  const size_t strip_size = 2 * plan.Blocks() * sizeof(typename Type::Block);
  int64_t expert = 0;
  int64_t before = 0;  // items of the experts before, without those that have no rows
  for (int64_t item = params->ith;; item = ggml_threadpool_chunk_add(params->threadpool, 1)) {
    while (expert < plan.Experts() &&
           (begins[expert] == begins[expert + 1] || item >= before + items)) {
      before += begins[expert] == begins[expert + 1] ? 0 : items;
      ++expert;
    }
    if (expert == plan.Experts()) {
      return;
    }
    const char* weights = static_cast<const char*>(plan.weights.data) + expert * plan.weights.nb[2];
    const int64_t first = (item - before) * kStripsOfItem;
    const int64_t end = std::min(first + kStripsOfItem, plan.Strips());
    for (int64_t strip = first; strip < end; ++strip) {
      const char* next = strip + 1 < end ? weights + (strip + 1) * strip_size : nullptr;
      RunStrip(plan, plan.Rows(params->wdata), weights, strip,
               plan.AllPlaces(params->wdata) + begins[expert], begins[expert + 1] - begins[expert],
               next);
    }
  }
}

bool Takes(Weights weights, const ggml_tensor* op) {
  return enabled.load(std::memory_order_relaxed) && weights != Weights::kOther &&
         (op->op == GGML_OP_MUL_MAT || op->op == GGML_OP_MUL_MAT_ID) &&
         op->src[1]->type == GGML_TYPE_F32 && op->ne[3] == 1 && op->src[0]->ne[3] == 1 &&
         (op->op == GGML_OP_MUL_MAT_ID || op->src[0]->ne[2] == 1);
}

#endif

}  // namespace

#ifdef HYPER_BATCH_ROWS

bool BatchRowsWorkSize(Weights weights, const ggml_tensor* op, size_t& size) {
  if (!Takes(weights, op)) {
    return false;
  }
  size =
      std::max(size, weights == Weights::kQ4_0x8 ? Plan<Q4_0>(op).Size() : Plan<Q4_K>(op).Size());
  return true;
}

bool ForwardBatchRows(Weights weights, const ggml_compute_params* params, ggml_tensor* op) {
  if (!Takes(weights, op)) {
    return false;
  }
  if (weights == Weights::kQ4_0x8) {
    Forward<Q4_0>(params, op);
  } else {
    Forward<Q4_K>(params, op);
  }
  return true;
}

#else

bool BatchRowsWorkSize(Weights, const ggml_tensor*, size_t&) { return false; }

bool ForwardBatchRows(Weights, const ggml_compute_params*, ggml_tensor*) { return false; }

#endif

}  // namespace hyper_native

int64_t hyper_native_batch_rows(int on) {
  using hyper_native::enabled;
  if (on == 0 || on == 1) {
    enabled.store(on == 1, std::memory_order_relaxed);
  }
  return hyper_native::computed.load(std::memory_order_relaxed);
}
