// Matrices and tuples of the reader: sums, multiples, products and determinants are computed while
// they are read, so that only entries are compared later.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/read/reader_impl.h"

namespace hyper::answer {
namespace {

// Larger determinants have too many terms.
constexpr int kMaxDeterminant = 5;
constexpr long kMaxMatrixPower = 8;

}  // namespace

bool Reader::IsLinear(NodeId id) const {
  const Node& node = tree_.at(id);
  return node.kind == Kind::kMatrix || (node.kind == Kind::kTuple && node.text == "()");
}

// Terms of a sum as one expression.
NodeId Reader::Added(std::vector<NodeId> terms) {
  if (terms.size() == 1) {
    return terms[0];
  }
  const Node first = tree_.at(terms[0]);
  const bool same_shape = std::all_of(terms.begin(), terms.end(), [&](NodeId term) {
    const Node& node = tree_.at(term);
    return IsLinear(term) && node.kind == first.kind && node.columns == first.columns &&
           node.args.size() == first.args.size();
  });
  if (!same_shape) {
    return tree_.Add(Kind::kSum, std::move(terms));
  }
  Node sum = first;
  for (size_t i = 0; i < first.args.size(); ++i) {
    std::vector<NodeId> entries;
    for (const NodeId term : terms) {
      entries.push_back(tree_.at(term).args[i]);
    }
    sum.args[i] = tree_.Add(Kind::kSum, std::move(entries));
  }
  return tree_.Add(std::move(sum));
}

// The product where one factor is a matrix or a tuple; kNoNode where none is, or where it is
// not defined. A letter before a tuple may be the name of a point.
NodeId Reader::LinearProduct(NodeId a, NodeId b) {
  const Kind left = tree_.at(a).kind;
  const Kind right = tree_.at(b).kind;
  if (left == Kind::kMatrix && right == Kind::kMatrix) {
    return MatrixProduct(a, b);
  }
  if (left == Kind::kMatrix) {
    return IsScalar(b) ? Scaled(a, b) : kNoNode;
  }
  if (right == Kind::kMatrix) {
    return IsScalar(a) ? Scaled(b, a) : kNoNode;
  }
  if (right == Kind::kTuple && IsLinear(b) && IsScalar(a) && left != Kind::kSymbol) {
    return Scaled(b, a);
  }
  return kNoNode;
}

bool Reader::IsScalar(NodeId id) const {
  if (!budget_.Steps()) {
    return false;
  }
  const Node& node = tree_.at(id);
  switch (node.kind) {
    case Kind::kNumber:
    case Kind::kSymbol:
    case Kind::kConstant:
      return true;
    case Kind::kSum:
    case Kind::kProduct:
    case Kind::kPower:
    case Kind::kCall:
      return std::all_of(node.args.begin(), node.args.end(),
                         [this](NodeId arg) { return IsScalar(arg); });
    default:
      return false;
  }
}

NodeId Reader::Scaled(NodeId linear, NodeId factor) {
  Node result = tree_.at(linear);
  for (NodeId& entry : result.args) {
    entry = tree_.Add(Kind::kProduct, {factor, entry});
  }
  return tree_.Add(std::move(result));
}

NodeId Reader::MatrixProduct(NodeId a, NodeId b) {
  const Node left = tree_.at(a);
  const Node right = tree_.at(b);
  const auto inner = static_cast<size_t>(left.columns);
  const auto columns = static_cast<size_t>(right.columns);
  const size_t rows = left.args.size() / inner;
  if (right.args.size() != inner * columns || !budget_.Steps(rows * columns * inner)) {
    return kNoNode;
  }
  Node product = right;
  product.args.clear();
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      std::vector<NodeId> terms;
      for (size_t k = 0; k < inner; ++k) {
        terms.push_back(tree_.Add(Kind::kProduct,
                                  {left.args[row * inner + k], right.args[k * columns + column]}));
      }
      product.args.push_back(tree_.Add(Kind::kSum, std::move(terms)));
    }
  }
  return tree_.Add(std::move(product));
}

// The power of an atom; of a matrix the product, or its transpose for an exponent T.
NodeId Reader::Raise(NodeId base, NodeId exponent) {
  const Node matrix = tree_.at(base);
  const Node power = tree_.at(exponent);
  if (matrix.kind != Kind::kMatrix) {
    return tree_.Add(Kind::kPower, {base, exponent});
  }
  const auto columns = static_cast<size_t>(matrix.columns);
  const size_t rows = matrix.args.size() / columns;
  if (power.kind == Kind::kSymbol && power.text == "T") {
    Node transposed = matrix;
    for (size_t i = 0; i < matrix.args.size(); ++i) {
      transposed.args[i] = matrix.args[(i % rows) * columns + i / rows];
    }
    transposed.columns = static_cast<int>(rows);
    return tree_.Add(std::move(transposed));
  }
  const auto times =
      power.kind == Kind::kNumber ? power.number.ToLong(kMaxMatrixPower) : std::nullopt;
  NodeId result = rows == columns && times && *times > 0 ? base : kNoNode;
  for (long i = 1; result != kNoNode && i < *times; ++i) {
    result = MatrixProduct(result, base);
  }
  return result == kNoNode ? tree_.Add(Kind::kPower, {base, exponent}) : result;
}

// The determinant, by its first row; a call of it where the matrix is not square or too large.
NodeId Reader::Determinant(NodeId matrix) {
  const Node node = tree_.at(matrix);
  const int n = node.columns;
  const bool square = node.kind == Kind::kMatrix && node.args.size() == static_cast<size_t>(n) * n;
  if (!square || n > kMaxDeterminant || !budget_.Steps(node.args.size())) {
    return tree_.Add(Kind::kCall, {matrix}, "det");
  }
  if (n == 1) {
    return node.args[0];
  }
  std::vector<NodeId> terms;
  for (int skipped = 0; skipped < n; ++skipped) {
    Node minor = node;
    minor.columns = n - 1;
    minor.args.clear();
    for (int i = n; i < n * n; ++i) {
      if (i % n != skipped) {
        minor.args.push_back(node.args[static_cast<size_t>(i)]);
      }
    }
    const NodeId sign = tree_.AddNumber(Rational(skipped % 2 == 0 ? 1 : -1));
    const NodeId rest = Determinant(tree_.Add(std::move(minor)));
    terms.push_back(
        tree_.Add(Kind::kProduct, {sign, node.args[static_cast<size_t>(skipped)], rest}));
  }
  return tree_.Add(Kind::kSum, std::move(terms));
}

}  // namespace hyper::answer
