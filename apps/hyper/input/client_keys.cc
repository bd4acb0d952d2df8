#include "apps/hyper/input/client_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "apps/hyper/input/config_file.h"
#include "apps/hyper/input/read_text.h"
#include "hyper/option.h"

namespace hyper::app {
namespace {

constexpr size_t kHashDigits = 64;
constexpr size_t kShortestKey = 16;

// A section as it stands in the file.
struct Section {
  int line = 0;  // of its first entry
  std::string key;
  std::string sha256;
  server::Client client;
};

std::vector<Option> SectionOptions(Section& section) {
  constexpr int kMostWidth = 4096;
  constexpr double kMostTokens = 1e15;
  return {
      {section.key, {.name = "key", .help = "the key itself"}},
      {section.sha256, {.name = "sha256", .help = "its SHA-256, instead"}},
      {section.client.width,
       {.name = "width", .help = "paths of one request", .bounds = Between(1, kMostWidth)}},
      {section.client.tokens_per_minute,
       {.name = "tokens-per-minute",
        .help = "tokens that its runs may take in a minute",
        .bounds = Between(1, kMostTokens)}},
      {section.client.all_runs, {.name = "all-runs", .help = "sees the runs of all clients"}},
  };
}

Error AtLine(int line, const std::string& what) {
  return InvalidArgument(fmt::format("{}: {}", line, what));
}

Status Put(const ConfigEntry& entry, Section& section) {
  std::vector<Option> options = SectionOptions(section);
  Option* option = FindOption(options, entry.name);
  if (entry.section.empty() || option == nullptr || entry.is_array) {
    return AtLine(
        entry.line,
        fmt::format("'{}' is not known here; below [NAME] of a client stand key or sha256, "
                    "width, tokens-per-minute and all-runs",
                    entry.Text()));
  }
  const Status set = option->Set(entry.values.front());
  return set ? Status() : Status(AtLine(entry.line, set.error().message));
}

bool IsHash(const std::string& text) {
  return text.size() == kHashDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Result<server::ClientKey> KeyOf(Section section) {
  const std::string& name = section.client.name;
  if (section.key.empty() == section.sha256.empty()) {
    return AtLine(section.line, fmt::format("[{}] takes either key or sha256", name));
  }
  if (!section.key.empty() && section.key.size() < kShortestKey) {
    return AtLine(section.line,
                  fmt::format("the key of [{}] is short enough to be guessed; take {} "
                              "characters or more, as of openssl rand -hex 24",
                              name, kShortestKey));
  }
  if (section.key.empty() && !IsHash(section.sha256)) {
    return AtLine(section.line,
                  fmt::format("sha256 of [{}] takes 64 lower-case hexadecimal digits, as "
                              "printf %s KEY | sha256sum prints them",
                              name));
  }
  return section.key.empty() ? server::ClientKey{section.sha256, std::move(section.client)}
                             : server::KeyOf(section.key, std::move(section.client));
}

}  // namespace

Result<std::vector<server::ClientKey>> ParseClientKeys(std::string_view text) {
  const Result<std::vector<ConfigEntry>> entries = ParseConfig(text);
  if (!entries) {
    return entries.error();
  }
  std::vector<Section> sections;
  for (const ConfigEntry& entry : *entries) {
    auto section = std::find_if(sections.begin(), sections.end(), [&entry](const Section& one) {
      return one.client.name == entry.section;
    });
    if (section == sections.end()) {
      section = sections.insert(section, Section());
      section->line = entry.line;
      section->client = {.name = entry.section, .all_runs = false};
    }
    if (Status status = Put(entry, *section); !status) {
      return status.error();
    }
  }
  std::vector<server::ClientKey> keys;
  for (Section& section : sections) {
    const int line = section.line;
    Result<server::ClientKey> key = KeyOf(std::move(section));
    if (!key) {
      return key.error();
    }
    for (const server::ClientKey& other : keys) {
      if (other.sha256 == key->sha256) {
        return AtLine(line,
                      fmt::format("[{}] has the key of [{}]", key->client.name, other.client.name));
      }
    }
    keys.push_back(std::move(*key));
  }
  return keys;
}

Result<std::vector<server::ClientKey>> ReadClientKeys(const std::string& path) {
  const Result<std::string> text = ReadText(path);
  if (!text) {
    return text.error();
  }
  Result<std::vector<server::ClientKey>> keys = ParseClientKeys(*text);
  if (!keys) {
    return InvalidArgument(path + ":" + keys.error().message);
  }
  if (keys->empty()) {
    return InvalidArgument(
        fmt::format("--keys-file {} has no key; it takes a section [NAME] with a key of each "
                    "client",
                    path));
  }
  return keys;
}

}  // namespace hyper::app
