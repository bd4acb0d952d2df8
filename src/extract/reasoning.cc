#include <algorithm>
#include <array>

#include "hyper/extract.h"
#include "src/extract/scan.h"

namespace hyper {
namespace {

using extract::TrimSpace;

// One tag as it stands in a text.
struct Tag {
  size_t begin = 0;
  size_t end = 0;
  size_t pair = 0;  // its place in the list of pairs
  bool opens = false;
};

// A tag to look for.
struct TagName {
  std::string_view text;
  size_t pair = 0;
  bool opens = false;
};

// The tags of a list, sorted so that those with one first byte stand together and, among them, a
// longer one before its own beginnings. Empty tags are left out.
class TagList {
 public:
  explicit TagList(std::span<const TagPair> pairs) {
    for (size_t pair = 0; pair < pairs.size(); ++pair) {
      if (!pairs[pair].open.empty()) {
        names_.push_back({pairs[pair].open, pair, true});
      }
      if (!pairs[pair].close.empty()) {
        names_.push_back({pairs[pair].close, pair, false});
      }
    }
    std::stable_sort(names_.begin(), names_.end(), [](const TagName& a, const TagName& b) {
      return a.text.front() != b.text.front() ? FirstByte(a) < FirstByte(b)
                                              : a.text.size() > b.text.size();
    });
    for (const TagName& name : names_) {
      ++start_[FirstByte(name) + 1];
    }
    for (size_t byte = 1; byte < start_.size(); ++byte) {
      start_[byte] += start_[byte - 1];
    }
  }

  // The tag that stands at `at`, or null.
  const TagName* Find(std::string_view text, size_t at) const {
    const auto byte = static_cast<unsigned char>(text[at]);
    for (size_t i = start_[byte]; i < start_[byte + 1]; ++i) {
      if (extract::StandsAt(text, at, names_[i].text)) {
        return &names_[i];
      }
    }
    return nullptr;
  }

 private:
  static size_t FirstByte(const TagName& name) {
    return static_cast<unsigned char>(name.text.front());
  }

  std::vector<TagName> names_;
  std::array<size_t, 257> start_{};  // where the tags with a first byte begin
};

// All tags of a text, in order.
std::vector<Tag> FindTags(std::string_view text, std::span<const TagPair> pairs) {
  const TagList list(pairs);
  std::vector<Tag> tags;
  for (size_t i = 0; i < text.size(); ++i) {
    const TagName* name = list.Find(text, i);
    if (name == nullptr) {
      continue;
    }
    tags.push_back({i, i + name->text.size(), name->pair, name->opens});
    i += name->text.size() - 1;
  }
  return tags;
}

// For each opening tag, the place in `tags` of the closing tag that ends its block, or the size of
// `tags`. Tags match within their pair, nearest first, in one pass from the right; an opening tag
// that is left over (the model wrote the tag's name) ends where the next one's block ends.
std::vector<size_t> BlockEnds(const std::vector<Tag>& tags, size_t pair_count) {
  std::vector<size_t> ends(tags.size(), tags.size());
  std::vector<size_t> next_end(pair_count, tags.size());
  std::vector<std::vector<size_t>> closes(pair_count);  // not yet matched, nearest on top
  for (size_t i = tags.size(); i-- > 0;) {
    const size_t pair = tags[i].pair;
    if (!tags[i].opens) {
      closes[pair].push_back(i);
      continue;
    }
    if (!closes[pair].empty()) {
      next_end[pair] = closes[pair].back();
      closes[pair].pop_back();
    }
    ends[i] = next_end[pair];
  }
  return ends;
}

void AddTrimmed(std::string_view text, size_t begin, size_t end, std::vector<TextSpan>& spans) {
  const std::string_view part = TrimSpace(extract::Slice(text, begin, end));
  if (part.empty()) {
    return;
  }
  const auto at = static_cast<size_t>(part.data() - text.data());
  spans.push_back({at, at + part.size()});
}

bool StartsLine(std::string_view text, size_t from, size_t at) {
  while (at > from && (text[at - 1] == ' ' || text[at - 1] == '\t')) {
    --at;
  }
  return at == from || text[at - 1] == '\n';
}

// Where reasoning ends that started before the text: the place in `tags` of the first closing tag
// that no opening tag of the text accounts for. If there is none, the opening tag is an extra one
// (the model wrote the template's tag again), and its own end counts. The size of `tags`: nowhere.
size_t CloseOfStart(const std::vector<Tag>& tags, const std::vector<size_t>& ends) {
  size_t close = 0;
  while (close < tags.size() && tags[close].opens) {
    close = ends[close] == tags.size() ? tags.size() : ends[close] + 1;
  }
  if (close < tags.size() || tags.empty()) {
    return close;
  }
  return ends[0];
}

}  // namespace

ReasoningSplit SplitReasoning(std::string_view text, std::span<const TagPair> tags,
                              bool opened_by_template) {
  const std::vector<Tag> found = FindTags(text, tags);
  const std::vector<size_t> ends = BlockEnds(found, tags.size());
  ReasoningSplit split;
  size_t at = 0;  // everything before is dealt with
  size_t i = 0;   // next tag to look at
  const bool starts_inside = opened_by_template || (!found.empty() && !found.front().opens);
  if (starts_inside) {
    const size_t close = CloseOfStart(found, ends);
    const bool repeated =
        !found.empty() && found[0].opens && TrimSpace(text.substr(0, found[0].begin)).empty();
    split.unclosed = close == found.size();
    AddTrimmed(text, repeated ? found[0].end : 0, split.unclosed ? text.size() : found[close].begin,
               split.reasoning);
    at = split.unclosed ? text.size() : found[close].end;
    i = close + 1;
  }
  for (; i < found.size(); ++i) {
    const Tag& tag = found[i];
    if (tag.begin < at) {
      continue;
    }
    const bool closed = ends[i] < found.size();
    if (tag.opens && !closed && !StartsLine(text, at, tag.begin)) {
      continue;
    }
    AddTrimmed(text, at, tag.begin, split.content);
    if (!tag.opens) {
      at = tag.end;
      continue;
    }
    AddTrimmed(text, tag.end, closed ? found[ends[i]].begin : text.size(), split.reasoning);
    at = closed ? found[ends[i]].end : text.size();
    split.unclosed = !closed;
  }
  AddTrimmed(text, at, text.size(), split.content);
  return split;
}

bool PromptOpensReasoning(std::string_view prompt, std::span<const TagPair> tags) {
  const std::string_view trimmed = TrimSpace(prompt);
  return std::any_of(tags.begin(), tags.end(), [trimmed](const TagPair& pair) {
    return !pair.open.empty() && trimmed.ends_with(pair.open);
  });
}

std::string JoinSpans(std::string_view text, std::span<const TextSpan> spans) {
  std::string joined;
  for (const TextSpan& span : spans) {
    if (!joined.empty()) {
      joined += '\n';
    }
    joined += extract::Slice(text, span.begin, span.end);
  }
  return joined;
}

}  // namespace hyper
