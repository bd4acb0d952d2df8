#include "src/core/step_clusters.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace hyper {
namespace {

using Vector = std::map<std::string, double>;

enum class CharacterKind { kSpace, kLetter, kDigit, kOther };

CharacterKind KindOf(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte <= 32) {
    return CharacterKind::kSpace;
  }
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || byte > 127) {
    return CharacterKind::kLetter;
  }
  return c >= '0' && c <= '9' ? CharacterKind::kDigit : CharacterKind::kOther;
}

// How often each term occurs.
Vector CountTerms(const std::string& text) {
  Vector counts;
  std::string term;
  CharacterKind kind = CharacterKind::kSpace;
  const auto flush = [&] {
    if (!term.empty()) {
      counts[term] += 1;
      term.clear();
    }
  };
  for (const char c : text) {
    const CharacterKind next = KindOf(c);
    if (next != kind || next == CharacterKind::kOther) {
      flush();
    }
    kind = next;
    if (next != CharacterKind::kSpace) {
      term += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  flush();
  return counts;
}

// Turns counts into unit vectors, each term weighted by how rare it is.
void Weigh(std::vector<Vector>& vectors) {
  std::map<std::string, int> document_counts;
  for (const Vector& vector : vectors) {
    for (const auto& [term, count] : vector) {
      ++document_counts[term];
    }
  }
  const auto documents = static_cast<double>(vectors.size());
  for (Vector& vector : vectors) {
    double squares = 0;
    for (auto& [term, value] : vector) {
      value *= std::log((1 + documents) / (1 + document_counts.at(term))) + 1;
      squares += value * value;
    }
    for (auto& [term, value] : vector) {
      value /= std::sqrt(squares);
    }
  }
}

double CosineDistance(const Vector& a, const Vector& b) {
  if (a.empty() || b.empty()) {
    return a.empty() && b.empty() ? 0 : 1;
  }
  double product = 0;
  for (const auto& [term, value] : a) {
    const auto at = b.find(term);
    product += at == b.end() ? 0 : value * at->second;
  }
  return std::clamp(1 - product, 0.0, 1.0);
}

double MeanDistance(std::span<const std::vector<double>> distances, const std::vector<int>& a,
                    const std::vector<int>& b) {
  double sum = 0;
  for (const int i : a) {
    for (const int j : b) {
      sum += distances[static_cast<size_t>(i)][static_cast<size_t>(j)];
    }
  }
  return sum / static_cast<double>(a.size() * b.size());
}

}  // namespace

std::vector<std::vector<double>> TextDistances(std::span<const std::string> texts) {
  std::vector<Vector> vectors;
  for (const std::string& text : texts) {
    vectors.push_back(CountTerms(text));
  }
  Weigh(vectors);
  const size_t n = texts.size();
  std::vector<std::vector<double>> distances(n, std::vector<double>(n, 0.0));
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      distances[i][j] = distances[j][i] = CosineDistance(vectors[i], vectors[j]);
    }
  }
  return distances;
}

std::vector<int> AverageLinkage(std::span<const std::vector<double>> distances, double cut) {
  const size_t n = distances.size();
  // Clusters keep the place of their first item; `apart` holds the mean distances between them.
  std::vector<std::vector<int>> clusters(n);
  for (size_t i = 0; i < n; ++i) {
    clusters[i] = {static_cast<int>(i)};
  }
  std::vector<std::vector<double>> apart(distances.begin(), distances.end());
  while (true) {
    size_t first = n;
    size_t second = n;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = i + 1; j < n && !clusters[i].empty(); ++j) {
        if (!clusters[j].empty() && (first == n || apart[i][j] < apart[first][second])) {
          first = i;
          second = j;
        }
      }
    }
    if (first == n || apart[first][second] > cut) {
      break;
    }
    std::vector<int>& joined = clusters[first];
    joined.insert(joined.end(), clusters[second].begin(), clusters[second].end());
    clusters[second].clear();
    for (size_t k = 0; k < n; ++k) {
      if (k != first && !clusters[k].empty()) {
        apart[first][k] = apart[k][first] = MeanDistance(distances, joined, clusters[k]);
      }
    }
  }
  std::vector<int> labels(n, 0);
  int next = 0;
  for (const std::vector<int>& cluster : clusters) {
    for (const int item : cluster) {
      labels[static_cast<size_t>(item)] = next;
    }
    next += cluster.empty() ? 0 : 1;
  }
  return labels;
}

}  // namespace hyper
