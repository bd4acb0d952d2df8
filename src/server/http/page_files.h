// The page's files, embedded in the program (generated source, from web/).
#pragma once

#include <span>
#include <string_view>

namespace hyper::server {

struct PageFile {
  std::string_view name;   // such as "index.html"
  std::string_view bytes;  // valid for the life of the program
};

// All of them.
std::span<const PageFile> PageFiles();

}  // namespace hyper::server
