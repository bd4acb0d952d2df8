#include "python/native/python_method.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hyper/plugin.h"
#include "python/native/errors.h"
#include "python/native/held.h"
#include "python/native/pool_view.h"

namespace nb = nanobind;

namespace hyper::python {
namespace {

// A method by a Python object with the methods of hyper_decode.Method. What it does not override
// is not called.
class PythonMethod : public Method {
 public:
  PythonMethod(std::string name, nb::object object)
      : name_(std::move(name)), view_(std::make_shared<PoolView>()), object_(std::move(object)) {
    const nb::object overridden =
        nb::module_::import_("hyper_decode._methods").attr("overridden")(object_.get());
    has_on_token_ = nb::cast<bool>(overridden["on_token"]);
    has_on_finish_ = nb::cast<bool>(overridden["on_finish"]);
    has_vote_rule_ = nb::cast<bool>(overridden["vote_rule"]);
    has_weight_ = nb::cast<bool>(overridden["weight"]);
    has_votes_ = nb::cast<bool>(overridden["votes"]);
  }

  Status Start(Pool& pool) override {
    Do(pool, "start");
    return status_;
  }

  void OnToken(Pool& pool, PathId path) override {
    if (has_on_token_) {
      Do(pool, "on_token", path);
    }
    if (has_on_finish_ && !pool.path(path).running()) {
      Do(pool, "on_finish", path);
    }
  }

  Status OnSettled(Pool& pool) override {
    if (status_) {
      Do(pool, "on_settled");
    }
    return status_;
  }

  // After a failure it is not done, so that OnSettled is called and tells of it.
  bool Done(const Pool& pool) const override { return status_ && Ask<bool>(pool, "done", false); }

  std::string VoteRule(const Pool& pool) const override {
    return has_vote_rule_ ? Ask<std::string>(pool, "vote_rule", Method::VoteRule(pool))
                          : Method::VoteRule(pool);
  }

  double Weight(const Pool& pool, const Path& path) const override {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    return has_weight_ ? Ask<double>(pool, "weight", kNone, path.id) : kNone;
  }

  bool Votes(const Pool& pool, const Path& path) const override {
    const bool usual = Method::Votes(pool, path);
    return has_votes_ && usual ? Ask<bool>(pool, "votes", usual, path.id) : usual;
  }

  // The first failure of its calls.
  const Status& status() const { return status_; }

 private:
  using PathArgument = std::optional<PathId>;

  nb::object Invoke(Pool& pool, PoolView::Access access, const char* call,
                    PathArgument path) const {
    const PoolView::Call open(*view_, pool, access);
    const nb::object method = object_.get().attr(call);
    return path ? method(view_, view_->At(*path)) : method(view_);
  }

  void Do(Pool& pool, const char* call, PathArgument path = std::nullopt) {
    const nb::gil_scoped_acquire acquired;
    try {
      Invoke(pool, PoolView::Access::kAct, call, path);
    } catch (nb::python_error& failure) {
      Fail(Failure(name_, call, failure));
    }
  }

  void Fail(Error error) const {
    if (status_) {
      status_ = std::move(error);
    }
  }

  // These calls have no error of their own: a failure shows at the next OnSettled, or in status().
  template <class T>
  T Ask(const Pool& pool, const char* call, T otherwise, PathArgument path = std::nullopt) const {
    const nb::gil_scoped_acquire acquired;
    try {
      // Looks only, as the access says.
      auto& looked_at = const_cast<Pool&>(pool);
      const nb::object value = Invoke(looked_at, PoolView::Access::kRead, call, path);
      return value.is_none() ? otherwise : nb::cast<T>(value);
    } catch (nb::python_error& failure) {
      Fail(Failure(name_, call, failure));
    } catch (const nb::cast_error&) {
      Fail({ErrorCode::kInternal, name_ + "." + call + " returned a value of another type"});
    }
    return otherwise;
  }

  const std::string name_;
  const std::shared_ptr<PoolView> view_;
  const Held object_;
  bool has_on_token_ = false;
  bool has_on_finish_ = false;
  bool has_vote_rule_ = false;
  bool has_weight_ = false;
  bool has_votes_ = false;
  mutable Status status_;
};

// A path's generated tokens as text.
std::string TextOf(const Pool& pool, const Path& path, int begin, int end) {
  std::string text;
  for (int i = begin; i < end; ++i) {
    const Token token = path.tokens[static_cast<size_t>(i)];
    if (!pool.engine().IsEndOfGeneration(token)) {
      text += pool.engine().TokenText(token);
    }
  }
  return text;
}

class PythonReward : public StepReward {
 public:
  explicit PythonReward(nb::object reward) : reward_(std::move(reward)) {}

  std::string name() const override { return "python"; }

  Status Begin(Pool& pool, std::vector<StepSpan> steps) override {
    const nb::gil_scoped_acquire acquired;
    try {
      nb::list rows;
      for (const StepSpan& step : steps) {
        const Path& path = pool.path(step.path);
        nb::dict row;
        row["path"] = step.path;
        row["before"] = Decoded(TextOf(pool, path, 0, step.begin));
        row["text"] = Decoded(TextOf(pool, path, step.begin, step.end));
        rows.append(row);
      }
      values_ = nb::cast<std::vector<double>>(reward_.get()(rows));
    } catch (nb::python_error& failure) {
      return Failure("reward", "", failure);
    } catch (const nb::cast_error&) {
      return Error{ErrorCode::kInternal, "the reward returned no list of numbers"};
    }
    if (values_.size() != steps.size()) {
      return Error{ErrorCode::kInternal, "the reward returned " + std::to_string(values_.size()) +
                                             " numbers for " + std::to_string(steps.size()) +
                                             " steps; it gives one for each"};
    }
    return {};
  }

  bool Done() const override { return true; }
  std::vector<double> Take() override { return std::exchange(values_, {}); }

 private:
  static nb::object Decoded(const std::string& bytes) {
    return nb::steal(
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
  }

  const Held reward_;
  std::vector<double> values_;
};

Result<std::unique_ptr<Method>> MakeOwn(const std::string& name, const Held& factory) {
  const nb::gil_scoped_acquire acquired;
  try {
    return std::unique_ptr<Method>(std::make_unique<PythonMethod>(name, factory.get()()));
  } catch (nb::python_error& failure) {
    return Failure(name, "__init__", failure);
  }
}

void Register(const std::string& name, const std::string& description, const std::string& base,
              const std::string& defaults, nb::object factory) {
  MethodSpec spec;
  spec.name = name;
  spec.description = description;
  spec.base = base;
  spec.defaults = defaults;
  spec.make = [name, factory = std::make_shared<Held>(std::move(factory))](const MethodOptions&) {
    Result<std::unique_ptr<Method>> made = MakeOwn(name, *factory);
    return made ? std::move(*made) : nullptr;
  };
  if (const Status status = RegisterMethod(std::move(spec)); !status) {
    Raise(status.error());
  }
}

}  // namespace

std::unique_ptr<StepReward> MakePythonReward(nb::object reward) {
  return std::make_unique<PythonReward>(std::move(reward));
}

MethodMaker PythonMethodMaker(std::string name, nb::object factory) {
  return [name = std::move(name), factory = std::make_shared<Held>(std::move(factory))](
             const RunPlan&) { return MakeOwn(name, *factory); };
}

Status StatusOf(const Method& method) {
  const auto* own = dynamic_cast<const PythonMethod*>(&method);
  return own == nullptr ? Status() : own->status();
}

void BindMethods(nb::module_& module) {
  BindPool(module);
  module.def("register_method", &Register, nb::arg("name"), nb::arg("description"), nb::arg("base"),
             nb::arg("defaults"), nb::arg("factory"));
  module.def("methods", [] {
    std::vector<std::pair<std::string, std::string>> methods;
    for (const MethodInfo& info : Methods()) {
      methods.emplace_back(info.name, info.description);
    }
    return methods;
  });
}

}  // namespace hyper::python
