// Which JSON schemas a reply can be kept to. llama.cpp's converter passes over what it does not
// know, and some schemas make it work without end: here it says what is let through to it.
#pragma once

#include <string>

#include "src/server/api/field_reader.h"

namespace hyper::server {

// Most names, values and sizes of a schema. Beyond them the grammar would be large.
inline constexpr int kMostSchemaParts = 2000;
inline constexpr int kMostEnumValues = 1000;
inline constexpr size_t kMostSchemaName = 128;  // bytes of a property's name
inline constexpr int kMostRepeats = 1000;       // items of an array, characters of a text

// Why the converter must not see this schema, such as "'#/properties/a' has a name of more than 128
// bytes"; empty: it may. Pure; linear in the schema.
std::string UnsafePart(const Json& schema);

// Why a reply would not be kept to the schema, such as "'#/properties/a' has 'pattern'"; empty: it
// would. UnsafePart included. What only describes is passed over. Pure; linear in the schema.
std::string UnkeptKeyword(const Json& schema);

}  // namespace hyper::server
