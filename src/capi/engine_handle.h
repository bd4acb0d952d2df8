// What a C handle stands for; tests make handles of scripted engines with it.
#pragma once

#include <memory>
#include <string>

#include "hyper/engine.h"
#include "hyper/hyper.h"

struct hyper_engine {
  std::unique_ptr<hyper::Engine> engine;
};
