#include "src/eval/figures/figure_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace hyper::eval {
namespace {

// What names a decoded path across rows.
using PathName = std::tuple<int64_t, int, uint64_t, int, std::string>;

std::set<PathName> PathNames(const RunMaterial& run) {
  std::set<PathName> names;
  for (const MaterialItem& item : run.items) {
    for (const StoredPath& path : item.item.paths) {
      names.insert({item.item.key.question, item.item.key.repeat, path.key, path.tokens,
                    path.answer.value_or("")});
    }
  }
  return names;
}

bool SamePlaceOf(const StoredRun& a, const StoredRun& b) {
  return a.suite == b.suite && a.model == b.model && a.model_hash == b.model_hash;
}

}  // namespace

Error NotInStudy(const std::string& reason) { return Error{ErrorCode::kNotFound, reason}; }

FigurePoint PointOf(double x, const Estimate& estimate) {
  return {x, estimate.mean, estimate.low, estimate.high};
}

Estimate EstimateItems(const RunMaterial& run,
                       const std::function<void(const MaterialItem&, ValueSum&)>& add) {
  std::vector<std::vector<ValueSum>> sums(static_cast<size_t>(run.repeats));
  for (const MaterialItem& item : run.items) {
    std::vector<ValueSum>& repeat = sums.at(static_cast<size_t>(item.item.key.repeat));
    repeat.emplace_back();
    add(item, repeat.back());
  }
  return EstimateMean(sums);
}

Estimate EstimatePaths(const RunMaterial& run,
                       const std::function<double(const MaterialItem&, size_t)>& value) {
  return EstimateItems(run, [&value](const MaterialItem& item, ValueSum& sum) {
    for (size_t path = 0; path < item.item.paths.size(); ++path) {
      const double one = value(item, path);
      if (std::isfinite(one)) {
        sum.Add(one);
      }
    }
  });
}

std::string Short(double value) {
  return std::isfinite(value) ? fmt::format("{:.1f}", value) : std::string("-");
}

std::string OptionOf(const StoredRun& run, const std::string& name) {
  const auto at = run.settings.find(name);
  return at != run.settings.end() ? at->second : std::string();
}

std::vector<std::string> Differences(const StoredRun& a, const StoredRun& b) {
  std::vector<std::string> names;
  const auto compare = [&names](const char* name, const auto& first, const auto& second) {
    if (first != second) {
      names.emplace_back(name);
    }
  };
  compare("method", a.method, b.method);
  compare("suite", a.suite, b.suite);
  compare("model", a.model + a.model_hash, b.model + b.model_hash);
  compare("engine", a.engine, b.engine);
  compare("version", a.version, b.version);
  compare("seed", a.seed, b.seed);
  std::map<std::string, std::string> all = a.settings;
  all.insert(b.settings.begin(), b.settings.end());
  for (const auto& [name, value] : all) {
    if (!name.starts_with("reserved-")) {
      compare(name.c_str(), OptionOf(a, name), OptionOf(b, name));
    }
  }
  return names;
}

std::vector<const RunMaterial*> IndependentRows(const StudyMaterial& material) {
  std::vector<const RunMaterial*> rows;
  std::vector<std::set<PathName>> paths;
  for (const RunMaterial& run : material.runs) {
    if (!HasIndependentPaths(run)) {
      continue;
    }
    std::set<PathName> names = PathNames(run);
    bool known = false;
    for (size_t i = rows.size(); i-- > 0;) {
      if (!SamePlaceOf(run.run(), rows[i]->run())) {
        continue;
      }
      if (std::includes(paths[i].begin(), paths[i].end(), names.begin(), names.end())) {
        known = true;
      } else if (std::includes(names.begin(), names.end(), paths[i].begin(), paths[i].end())) {
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
        paths.erase(paths.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    if (!known) {
      rows.push_back(&run);
      paths.push_back(std::move(names));
    }
  }
  return rows;
}

}  // namespace hyper::eval
