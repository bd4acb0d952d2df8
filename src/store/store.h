// The run store: one SQLite file per study. Every finished (run, question, repeat) is one
// transaction, so a program that dies at any moment loses the unfinished ones and nothing else.
// Tables and their meaning: docs/store.md.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hyper/result.h"
#include "src/store/records.h"
#include "src/store/sqlite.h"

namespace hyper {

// What makes a run the run it is, as one text: all fields of `run` but id and label. Two runs have
// equal texts exactly when these fields are equal. Pure.
std::string RunIdentity(const StoredRun& run);

// Decisions by action; those that changed nothing count as None.
using ActionTally = std::array<int64_t, kActionCount>;

// An item that comes with its run and question; the store gives its key.
struct NewItem {
  StoredRun run;
  StoredQuestion question;
  StoredItem item;
};

// Several programs may use one file at once: each call that writes is one transaction.
// Thread rule: a Store belongs to one thread. Errors of all calls: kUnavailable (locked for more
// than 30 s), kResourceExhausted (disk full), kDataLoss (damaged file).
class Store {
 public:
  // Opens a study. Errors: kNotFound, kInvalidArgument (no study, or of a newer version).
  static Result<Store> Open(const std::string& path, DatabaseMode mode);

  // From here on no call waits for the disk. What is saved still outlives the death of the program
  // at any moment, but a loss of power may take the last of it. The file stays whole.
  Status DoNotAwaitDisk();

  // Number of the run or question, added where the store has it not yet. A run keeps the label that
  // it has, so that no row of a study vanishes; a question takes the new gold, text and group.
  Result<int64_t> AddRun(const StoredRun& run);
  Result<int64_t> AddQuestion(const StoredQuestion& question);

  // Stores an item. One that is there already stays (false: nothing was done), except that a failed
  // one makes room, its tokens counted as lost work of the new one; a kInterrupted one counts for
  // nothing.
  Result<bool> SaveItem(const StoredItem& item);
  // The same for items with their runs and questions, in one transaction: all or nothing.
  Status SaveItems(std::span<const NewItem> items);
  // Stores a grade, in place of an earlier one. Errors: kNotFound (no such item).
  Status SaveGrade(const StoredGrade& grade);

  // The items still to be made: every question of every repeat, repeats outermost, that is not
  // there or has failed.
  Result<std::vector<ItemKey>> Unfinished(int64_t run, std::span<const int64_t> questions,
                                          int repeats);
  // Who made the grades, each name once.
  Result<std::vector<std::string>> Graders();

  Result<std::vector<StoredRun>> Runs();                // by id
  Result<std::vector<StoredQuestion>> Questions();      // by id
  Result<std::vector<ItemSummary>> Items(int64_t run);  // by question, then repeat
  // Answers of a run's finished items under every stored rule.
  Result<std::vector<VoteAnswer>> VoteAnswers(int64_t run);
  // What the paths of a run's finished items answered, by question, repeat and answer.
  Result<std::vector<PathAnswers>> AnswersOfPaths(int64_t run);
  // What judges said of answers, against the present golds of their questions; each answer once.
  Result<std::vector<JudgedAnswer>> JudgedAnswers();
  // Decisions of a run's finished items by question and action; those that changed nothing count as
  // None.
  Result<std::map<int64_t, ActionTally>> ActionCounts(int64_t run);
  // An item with everything. Errors: kNotFound.
  Result<StoredItem> LoadItem(const ItemKey& key);

  // The newest items of all suites, newest first, at most `count`.
  Result<std::vector<ListedItem>> Newest(int count);
  // The same of runs whose setting of that name has that value.
  Result<std::vector<ListedItem>> Newest(int count, const std::string& setting,
                                         const std::string& value);
  // The item of that number, or of that question's name in `suite`; nothing where there is none.
  Result<std::optional<ListedItem>> FindItem(int64_t item);
  Result<std::optional<ListedItem>> FindItem(const std::string& suite, const std::string& name);
  // A number that is another one, but for chance, once items, grades, golds or labels of the suites
  // other than `left_out_suite` change: for what is computed from them and kept.
  Result<uint64_t> Fingerprint(const std::string& left_out_suite);
  // Drops the items of `suite` but the `most` newest, and those older than `most_age_s` (0: of any
  // age), with the questions and runs that only they had. Returns the number of dropped items.
  Result<int> Prune(const std::string& suite, int64_t most, double most_age_s);

  // Drops the items of that question's name in `suite`, as Prune does; false: there is none.
  Result<bool> DropItem(const std::string& suite, const std::string& name);

 private:
  Result<bool> InsertItem(const ItemKey& key, const StoredItem& item);  // inside a transaction

  Store(Database database, bool lost_generated)
      : database_(std::move(database)), lost_generated_(lost_generated) {}

  Database database_;
  bool lost_generated_;  // whether the file has that column of items
};

}  // namespace hyper
