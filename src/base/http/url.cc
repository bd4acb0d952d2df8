#include "src/base/http/url.h"

#include <curl/curl.h>

#include <memory>

namespace hyper::base {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct FreeText {
  void operator()(char* text) const { curl_free(text); }
};
using Text = std::unique_ptr<char, FreeText>;

// A part of a URL; empty where it has none.
std::string PartOf(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  const CURLUcode code = curl_url_get(url, part, &text, 0);
  const Text owner(text);
  return code == CURLUE_OK && text != nullptr ? text : "";
}

}  // namespace

bool IsPlainHttpUrl(const std::string& url) {
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
    return false;
  }
  const std::string scheme = PartOf(parsed.get(), CURLUPART_SCHEME);
  const bool http = scheme == "http" || scheme == "https";
  // libcurl forgives a third slash before the host, and drops an empty query without a word.
  const std::string_view rest =
      std::string_view(url).substr(std::min(url.size(), scheme.size() + 3));
  return http && !rest.starts_with('/') && rest.find_first_of("@?#, ") == std::string_view::npos;
}

std::string QueryEscaped(std::string_view text) {
  if (text.empty()) {
    return "";  // libcurl would measure the text itself
  }
  const Text escaped(curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size())));
  return escaped ? escaped.get() : "";
}

std::string WithoutKey(std::string words, const std::string& key) {
  constexpr std::string_view kShown = "(key)";
  for (size_t at = 0; !key.empty() && (at = words.find(key, at)) != std::string::npos;) {
    words.replace(at, key.size(), kShown);
    at += kShown.size();  // the key may be a part of these words
  }
  return words;
}

}  // namespace hyper::base
