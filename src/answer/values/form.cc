#include "src/answer/values/form.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

constexpr int kMaxVariables = 20;
constexpr int kMaxRestarts = 6;
constexpr long kMaxDenominator = 60;

}  // namespace

void FormBuilder::CollectSymbols(NodeId id, std::vector<std::string>& symbols) {
  if (!budget_.Steps()) {
    return;
  }
  const Node& node = tree_.at(id);
  if (node.kind == Kind::kSymbol) {
    symbols.push_back("s:" + node.text);
  }
  for (const NodeId arg : node.args) {
    CollectSymbols(arg, symbols);
  }
}

// The ring over the symbols of the expressions, in the order of their names, with room for
// generators.
bool FormBuilder::Prepare(const std::vector<NodeId>& roots) {
  std::vector<std::string> symbols;
  for (const NodeId root : roots) {
    CollectSymbols(root, symbols);
  }
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  if (symbols.size() > kMaxVariables / 2 || budget_.exhausted()) {
    return false;
  }
  generators_.clear();
  ring_ = std::make_unique<PolynomialRing>(kMaxVariables);
  for (std::string& symbol : symbols) {
    generators_.emplace_back();
    generators_.back().key = std::move(symbol);
  }
  symbols_ = generators_.size();
  restart_ = false;
  return true;
}

// Runs the action; again where a pass learned that it needs finer generators.
template <class Action>
auto FormBuilder::WithRestarts(const std::vector<NodeId>& roots, Action action)
    -> decltype(action()) {
  for (int pass = 0; pass < kMaxRestarts; ++pass) {
    if (!Prepare(roots)) {
      break;
    }
    auto result = action();
    if (!restart_) {
      return result;
    }
  }
  return {};
}

bool FormBuilder::Raise(long& denominator, long needed) {
  if (denominator % needed == 0) {
    return false;
  }
  const long raised = std::lcm(denominator, needed);
  if (raised <= kMaxDenominator) {
    denominator = raised;
    restart_ = true;
  }
  return true;
}

FormZero FormBuilder::Difference(NodeId a, NodeId b) {
  const auto zero = WithRestarts({a, b}, [&]() -> std::optional<FormZero> {
    const Form left = Build(a);
    const Form right = left ? Build(b) : std::nullopt;
    if (!right) {
      return std::nullopt;
    }
    const Form difference = Reduce(left->Add(right->Negated(), budget_));
    if (!difference) {
      return std::nullopt;
    }
    if (difference->IsZero()) {
      return FormZero::kZero;
    }
    return OnlySymbols(*difference) ? FormZero::kNonZero : FormZero::kUnknown;
  });
  return zero.value_or(FormZero::kUnknown);
}

FormZero FormBuilder::Proportional(NodeId a, NodeId b, bool positive) {
  const auto zero = WithRestarts({a, b}, [&]() -> std::optional<FormZero> {
    const Form left = Build(a);
    const Form right = left ? Build(b) : std::nullopt;
    if (!right || left->IsZero() || right->IsZero()) {
      return std::nullopt;
    }
    // For equations what counts is where the numerators vanish.
    const Form ratio = Reduce(positive ? Quotient(*left, *right)
                                       : Quotient(left->Numerator(), right->Numerator()));
    if (!ratio) {
      return std::nullopt;
    }
    const auto value = ratio->AsRational();
    if (value) {
      return !positive || value->Sign() > 0 ? FormZero::kZero : FormZero::kNonZero;
    }
    return OnlySymbols(*ratio) ? FormZero::kNonZero : FormZero::kUnknown;
  });
  return zero.value_or(FormZero::kUnknown);
}

std::string FormBuilder::Key(NodeId a) {
  return WithRestarts({a}, [&]() -> std::string {
    const Form form = Reduce(Build(a));
    return form ? KeyOf(*form) : std::string();
  });
}

bool FormBuilder::OnlySymbols(const Fraction& form) {
  for (size_t i = symbols_; i < generators_.size(); ++i) {
    if (generators_[i].key != "i" && form.Uses(static_cast<int>(i))) {
      return false;
    }
  }
  return true;
}

FormBuilder::Form FormBuilder::Number(const Rational& value) { return Fraction::Of(*ring_, value); }

FormBuilder::Form FormBuilder::Quotient(const Fraction& a, const Fraction& b) {
  const Form inverse = b.Power(-1, budget_);
  return inverse ? a.Multiply(*inverse, budget_) : std::nullopt;
}

// Index of the generator of this key, made where it is new; -1 where there are too many.
int FormBuilder::Variable(const std::string& key) {
  const auto found = std::find_if(generators_.begin(), generators_.end(),
                                  [&](const Generator& entry) { return entry.key == key; });
  if (found != generators_.end()) {
    return static_cast<int>(found - generators_.begin());
  }
  if (generators_.size() >= kMaxVariables) {
    return -1;
  }
  generators_.emplace_back();
  generators_.back().key = key;
  return static_cast<int>(generators_.size()) - 1;
}

FormBuilder::Form FormBuilder::Generate(const std::string& key) {
  const int index = Variable(key);
  if (index < 0) {
    return std::nullopt;
  }
  return Fraction::Variable(*ring_, index);
}

// A value of which only the key is known.
FormBuilder::Form FormBuilder::Opaque(const std::string& key) {
  if (key.empty() || key.size() > 2000) {
    return std::nullopt;
  }
  const int index = Variable("o:" + key);
  if (index < 0) {
    return std::nullopt;
  }
  generators_[static_cast<size_t>(index)].complex = true;
  return Fraction::Variable(*ring_, index);
}

// Whether the value is real at every point where it is defined.
bool FormBuilder::IsReal(const Fraction& form) {
  for (size_t i = symbols_; i < generators_.size(); ++i) {
    if (generators_[i].complex && form.Uses(static_cast<int>(i))) {
      return false;
    }
  }
  return true;
}

FormBuilder::Form FormBuilder::Monomial(const std::vector<unsigned long>& exponents) {
  Form monomial = Number(Rational(1));
  for (size_t i = 0; monomial && i < exponents.size(); ++i) {
    if (exponents[i] == 0) {
      continue;
    }
    const Form power = Fraction::Variable(*ring_, static_cast<int>(i))
                           .Power(static_cast<long>(exponents[i]), budget_);
    monomial = power ? monomial->Multiply(*power, budget_) : std::nullopt;
  }
  return monomial;
}

std::string FormBuilder::KeyOf(const Fraction& form) {
  if (!budget_.Bits(form.Terms() * 512)) {
    return {};
  }
  std::vector<std::string> names;
  for (const Generator& generator : generators_) {
    names.push_back("[" + generator.key + "]");
  }
  names.resize(kMaxVariables, "?");
  return form.ToString(names);
}

// Divides out the relations, the youngest generator first: its value may hold older ones.
FormBuilder::Form FormBuilder::Reduce(Form form) {
  for (size_t i = generators_.size(); form && i-- > symbols_;) {
    const Generator& generator = generators_[i];
    if (generator.degree == 0 || !form->Uses(static_cast<int>(i))) {
      continue;
    }
    form = form->Reduced(static_cast<int>(i), generator.degree, *generator.value, budget_);
  }
  return form;
}

FormBuilder::Form FormBuilder::Build(NodeId id) {
  if (restart_ || !budget_.Steps()) {
    return std::nullopt;
  }
  const Node& node = tree_.at(id);
  switch (node.kind) {
    case Kind::kNumber:
      return Number(node.number);
    case Kind::kSymbol:
      return Generate("s:" + node.text);
    case Kind::kConstant:
      return Constant(node.text);
    case Kind::kUnit: {
      if (node.text == "percent") {
        return Number(Rational(1, 100));
      }
      if (node.text != "degree") {
        return std::nullopt;
      }
      const Form pi = Constant("pi");
      return pi ? pi->Multiply(*Number(Rational(1, 180)), budget_) : std::nullopt;
    }
    case Kind::kSum:
    case Kind::kProduct:
      return Fold(node);
    case Kind::kPower:
      return Reduce(Power(node));
    case Kind::kCall:
      return Reduce(Call(node));
    default:
      return std::nullopt;
  }
}

FormBuilder::Form FormBuilder::Fold(const Node& node) {
  Form total = Build(node.args[0]);
  for (size_t i = 1; total && i < node.args.size(); ++i) {
    const Form next = Build(node.args[i]);
    if (!next) {
      return std::nullopt;
    }
    total = node.kind == Kind::kSum ? total->Add(*next, budget_) : total->Multiply(*next, budget_);
  }
  return total;
}

FormBuilder::Form FormBuilder::Constant(const std::string& name) {
  if (name == "e") {
    return Exponential(*Number(Rational(1)));
  }
  if (name == "infinity") {
    return std::nullopt;
  }
  const int index = Variable(name == "i" ? "i" : "pi");
  if (index < 0) {
    return std::nullopt;
  }
  Generator& generator = generators_[static_cast<size_t>(index)];
  if (name == "i" && generator.degree == 0) {
    generator.degree = 2;
    generator.complex = true;
    generator.value = Number(Rational(-1));
  }
  if (name == "pi") {
    generator.positive = true;
  }
  return Fraction::Variable(*ring_, index);
}

FormBuilder::Form FormBuilder::Power(const Node& node) {
  const Form exponent = Build(node.args[1]);
  if (!exponent) {
    return std::nullopt;
  }
  const Node& below = tree_.at(node.args[0]);
  if (below.kind == Kind::kConstant && below.text == "e") {
    return Exponential(*exponent);
  }
  const Form base = Build(node.args[0]);
  if (!base) {
    return std::nullopt;
  }
  const auto number = exponent->AsRational();
  if (!number) {
    return GeneralPower(*base, *exponent);
  }
  const auto p = number->Numerator().ToLong(100'000);
  const auto q = number->Denominator().ToLong(kMaxDenominator);
  if (!p || !q) {
    return std::nullopt;
  }
  if (base->IsZero()) {
    return *p > 0 ? base : std::nullopt;
  }
  return *q == 1 ? base->Power(*p, budget_) : Root(*base, *p, *q);
}

}  // namespace hyper::answer
