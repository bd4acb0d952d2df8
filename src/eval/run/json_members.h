// Members of JSON objects that other programs wrote, read leniently: what is absent or of another
// type is nothing. See also MemberOr.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "hyper/records.h"

namespace hyper::eval {

// A member as a text; numbers as they are written, anything else as nothing. Pure, as all here.
std::string TextOf(const nlohmann::json& object, const char* name);

// How a path ended, its member "status": finished, length or degenerate; all else counts as
// cancelled.
PathStatus StatusOf(const nlohmann::json& object);

// A number, or NaN.
float FloatOf(const nlohmann::json& value);

// Settings as a run keeps them: texts as they are, other values as JSON.
std::map<std::string, std::string> SettingsOf(const nlohmann::json& object);

}  // namespace hyper::eval
