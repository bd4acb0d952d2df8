// Methods of your own under a name, beside the built-in ones: they then work wherever a method is
// named. A plugin adds them to the program, and graders, suites and tables of hyper/evaluation.h
// too. docs/your-own-method.md shows how, in C++ and in Python.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "hyper/evaluation.h"
#include "hyper/method.h"
#include "hyper/method_traits.h"
#include "hyper/options.h"
#include "hyper/result.h"

#pragma GCC visibility push(default)
namespace hyper {

// A method and what the front doors need to know of it.
struct MethodSpec {
  std::string name;         // small letters, digits and dashes; a letter comes first
  std::string description;  // one line, for help and lists
  // The built-in method whose options it reads, whose defaults it has, and what an engine must be
  // able to do for which. A method that weighs paths takes "bon", one that prunes "deepconf".
  std::string base = "sc";
  std::string defaults;  // over those of `base`: "option=value option=value"
  MethodTraits traits;   // for tables
  std::function<std::unique_ptr<Method>(const MethodOptions& options)> make;
};

// Adds a method. One of that name that was added before is replaced; runs that have begun keep it.
// Errors: kInvalidArgument (a name that is no name or is a built-in method's, a base that is not
// built in, defaults that are no options, nothing to make it with). Any thread.
Status RegisterMethod(MethodSpec spec);

// What a plugin gets from the program that loads it. What has the name of an earlier one takes its
// place; the names of what is built in are taken. Errors of Add: kInvalidArgument (a name that is
// no name or is taken, nothing to call), for a suite also those of its JSON.
class PluginRegistry {
 public:
  virtual ~PluginRegistry() = default;
  // As RegisterMethod, in the program.
  virtual Status Add(MethodSpec spec) = 0;
  virtual Status Add(GraderSpec spec) = 0;
  virtual Status Add(SuiteSpec spec) = 0;
  virtual Status Add(TableSpec spec) = 0;
};

}  // namespace hyper

// The one function of a plugin, which `hyper --plugin my_method.so` calls once:
//   HYPER_PLUGIN(registry) { return registry.Add(MethodSpec{...}); }
// A plugin is built against the library of the program's own version.
#define HYPER_PLUGIN(registry) \
  extern "C" hyper::Status hyper_plugin_0_1(hyper::PluginRegistry& registry)
#pragma GCC visibility pop
