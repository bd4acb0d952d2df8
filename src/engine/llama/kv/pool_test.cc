// KvPool on a context of the bundled model.
#include "src/engine/llama/kv/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "src/engine/llama/batch.h"
#include "src/engine/llama/model.h"
#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

class KvPoolTest : public testing::Test {
 protected:
  void SetUp() override {
    if (BundledModel().empty()) {
      GTEST_SKIP() << "the bundled model is not there";
    }
    options_ = BundledOptions();
    options_.max_lanes = 12;
    options_.context_cells = 300;
    Result<LoadedModel> loaded = LoadModel(options_);
    ASSERT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message);
    loaded_ = std::make_unique<LoadedModel>(std::move(*loaded));
    context_ = Context();
    reference_ = Context();
    ASSERT_TRUE(context_ && reference_);
  }

  ContextHandle Context() {
    Result<ContextHandle> context = MakeContext(options_, nullptr, nullptr, *loaded_);
    return context ? std::move(*context) : ContextHandle();
  }
  llama_memory_t memory() { return llama_get_memory(context_.get()); }
  KvPool Pool(bool ordered) { return {context_.get(), loaded_->plan, ordered, false}; }

  // Decodes tokens behind a sequence, one after the other: more rows would be rounded apart.
  static void Decode(llama_context* context, int sequence, int begin,
                     const std::vector<Token>& tokens) {
    Batch batch(1);
    for (size_t i = 0; i < tokens.size(); ++i) {
      batch.Clear();
      batch.Add(tokens[i], begin + static_cast<int>(i), sequence, true);
      ASSERT_EQ(llama_decode(context, batch.get()), 0);
    }
  }
  void Append(KvPool* pool, int sequence, const std::vector<Token>& tokens) {
    ASSERT_TRUE(pool->MakeRoom(static_cast<int>(tokens.size())).ok());
    Decode(context_.get(), sequence, pool->Length(sequence), tokens);
    pool->Appended(sequence, static_cast<int>(tokens.size()));
  }
  std::vector<float> LastLogits(llama_context* context) const {
    const float* logits = llama_get_logits_ith(context, -1);
    return {logits, logits + loaded_->info.vocab_size};
  }
  // Compares the newest logits with those of a text that is computed alone.
  void Check(const std::vector<Token>& text, bool ordered) {
    const std::vector<float> seen = LastLogits(context_.get());
    llama_memory_clear(llama_get_memory(reference_.get()), false);
    Decode(reference_.get(), 0, 0, text);
    const std::vector<float> alone = LastLogits(reference_.get());
    if (ordered) {
      ASSERT_EQ(seen, alone);
    }
    double most = 0;
    for (size_t i = 0; i < seen.size(); ++i) {
      most = std::max(most, std::abs(static_cast<double>(seen[i]) - alone[i]));
    }
    ++checks_;
    far_ += most > 0.1 ? 1 : 0;
  }
  std::vector<Token> Random(int count) {
    std::vector<Token> tokens(count);
    for (Token& token : tokens) {
      token = static_cast<Token>(Below(loaded_->info.vocab_size));
    }
    return tokens;
  }
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void RandomOperations(bool ordered);

  LlamaOptions options_;
  std::unique_ptr<LoadedModel> loaded_;
  ContextHandle context_;
  ContextHandle reference_;
  std::mt19937 random_{1};
  int checks_ = 0;
  int far_ = 0;
};

// Whatever was shared, cut and given back before: a sequence sees the cells of its own text, and
// cells that no one has are free.
void KvPoolTest::RandomOperations(bool ordered) {
  KvPool pool = Pool(ordered);
  std::map<int, std::vector<Token>> texts;
  const auto any = [&] { return std::next(texts.begin(), Below(static_cast<int>(texts.size()))); };
  const auto append = [&](int sequence) {
    const std::vector<Token> tokens = Random(1 + Below(6));
    if (pool.free_cells() >= 6) {
      Append(&pool, sequence, tokens);
      texts[sequence].insert(texts[sequence].end(), tokens.begin(), tokens.end());
      Check(texts[sequence], ordered);
    }
  };
  for (int step = 0; step < 300; ++step) {
    const int kind = texts.empty() ? 0 : Below(6);
    if (kind == 0 && texts.size() < 12) {
      const int sequence = pool.Acquire();
      ASSERT_EQ(llama_memory_seq_pos_max(memory(), sequence), -1);
      append(sequence);
    } else if (kind == 1 && texts.size() < 12) {
      const auto& [from, text] = *any();
      const int count = Below(static_cast<int>(text.size()) + 1);
      const int sequence = pool.AcquireWith(from, count);
      texts[sequence].assign(text.begin(), text.begin() + count);
      ASSERT_EQ(llama_memory_seq_pos_max(memory(), sequence), count - 1);
      append(sequence);
    } else if (kind == 2) {
      append(any()->first);
    } else if (kind == 3) {
      const auto& [from, text] = *any();
      const int count = static_cast<int>(text.size()) - Below(2);
      if (count > 0 && pool.free_cells() > 0 && pool.MakeRoom(1).ok()) {
        std::vector<Token> longer(text.begin(), text.begin() + count);
        longer.push_back(Random(1).front());
        Decode(context_.get(), pool.Borrow(from, count), count, {longer.back()});
        Check(longer, ordered);
        pool.ReturnBorrowed();
      }
    } else if (kind == 4) {
      auto& [sequence, text] = *any();
      text.resize(Below(static_cast<int>(text.size()) + 1));
      pool.Truncate(sequence, static_cast<int>(text.size()));
    } else if (!texts.empty() && (texts.size() > 10 || Below(2) == 0)) {
      const auto entry = any();
      pool.Release(entry->first);
      texts.erase(entry);
    }
    if (HasFatalFailure()) {
      FAIL() << "step " << step;
    }
    for (const auto& [sequence, text] : texts) {
      const int length = static_cast<int>(text.size());
      ASSERT_EQ(pool.Length(sequence), length);
      ASSERT_EQ(llama_memory_seq_pos_max(memory(), sequence), length - 1) << "step " << step;
    }
  }
  EXPECT_GT(checks_, 100);
  // In another order a sum is rounded apart, which seldom chooses another expert.
  EXPECT_LE(far_, checks_ / 50);
}

TEST_F(KvPoolTest, SequencesSeeTheirOwnCellsAfterRandomOperations) { RandomOperations(false); }

TEST_F(KvPoolTest, OrderedSequencesSeeTheirOwnCellsAfterRandomOperations) {
  RandomOperations(true);
}

TEST_F(KvPoolTest, AnIdThatIsTakenAgainLacksOnlyWhatIsNew) {
  KvPool pool = Pool(false);
  const int root = pool.Acquire();
  Append(&pool, root, Random(20));
  const int first = pool.AcquireWith(root, 20);
  const int second = pool.AcquireWith(root, 15);
  EXPECT_EQ(pool.entered(), 35);
  Append(&pool, first, Random(3));
  pool.Release(first);
  pool.Release(second);
  EXPECT_EQ(pool.used(), 20);
  Append(&pool, root, Random(4));
  EXPECT_EQ(pool.AcquireWith(root, 24), first);  // which has more of them
  EXPECT_EQ(pool.entered(), 39);
  EXPECT_EQ(pool.AcquireWith(root, 10), second);
  EXPECT_EQ(pool.entered(), 39);
}

TEST_F(KvPoolTest, OtherTextsTakeTheIdsThatKeepLeast) {
  KvPool pool = Pool(false);
  const int root = pool.Acquire();
  Append(&pool, root, Random(20));
  const int child = pool.AcquireWith(root, 20);
  pool.Release(child);
  EXPECT_NE(pool.Acquire(), child);
  EXPECT_EQ(pool.AcquireWith(root, 20), child);
  EXPECT_EQ(pool.entered(), 20);
}

TEST_F(KvPoolTest, AnIdKeepsWhatItsHolderLeavesToOthers) {
  KvPool pool = Pool(false);
  const int root = pool.Acquire();
  Append(&pool, root, Random(20));
  const int child = pool.AcquireWith(root, 12);
  const int other = pool.AcquireWith(root, 20);
  pool.Release(other);
  EXPECT_EQ(pool.entered(), 32);
  pool.Release(root);
  EXPECT_EQ(pool.used(), 12);
  EXPECT_EQ(llama_memory_seq_pos_max(memory(), other), 11);
  pool.AcquireWith(child, 12);
  pool.AcquireWith(child, 12);
  EXPECT_EQ(pool.entered(), 32);
}

TEST_F(KvPoolTest, ALentIdIsLentAgainToTheSameSequence) {
  KvPool pool = Pool(false);
  const int one = pool.Acquire();
  const int two = pool.Acquire();
  Append(&pool, one, Random(20));
  Append(&pool, two, Random(10));
  for (int round = 0; round < 3; ++round) {
    const int lent_one = pool.Borrow(one, 20 + round);
    const int lent_two = pool.Borrow(two, 10 + round);
    Decode(context_.get(), lent_one, 20 + round, Random(1));
    Decode(context_.get(), lent_two, 10 + round, Random(1));
    pool.ReturnBorrowed();
    EXPECT_EQ(pool.entered(), 30 + 2 * round);
    Append(&pool, one, Random(1));
    Append(&pool, two, Random(1));
  }
}

TEST_F(KvPoolTest, NoCellStaysWhenAllSequencesAreGone) {
  const size_t empty = llama_state_get_size(context_.get());
  KvPool pool = Pool(false);
  const int root = pool.Acquire();
  Append(&pool, root, Random(20));
  const int child = pool.AcquireWith(root, 20);
  Append(&pool, child, Random(5));
  pool.Truncate(child, 22);
  Decode(context_.get(), pool.Borrow(child, 22), 22, Random(1));
  pool.ReturnBorrowed();
  pool.Release(root);
  EXPECT_EQ(pool.used(), 22);
  EXPECT_GT(llama_state_get_size(context_.get()), empty);
  pool.Release(child);
  EXPECT_EQ(pool.used(), 0);
  EXPECT_EQ(llama_state_get_size(context_.get()), empty);
}

}  // namespace
}  // namespace hyper::llama
