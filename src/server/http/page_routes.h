// GET / and /docs, and the files of both pages.
#pragma once

#include "src/server/http/routes.h"

namespace hyper::server {

void AddPageRoutes(Routes& routes);

}  // namespace hyper::server
