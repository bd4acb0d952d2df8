// URLs, and keys that must not be told.
#pragma once

#include <string>
#include <string_view>

namespace hyper::base {

// Whether `url` is http(s)://host[:port][/path] without user, query, fragment or white space. Pure,
// as all here.
bool IsPlainHttpUrl(const std::string& url);

// `text` as it may stand in a query.
std::string QueryEscaped(std::string_view text);

// `words` with "(key)" in place of each copy of the key, should a server repeat it.
std::string WithoutKey(std::string words, const std::string& key);

}  // namespace hyper::base
