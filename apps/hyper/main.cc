// hyper: answers hard questions with a pool of reasoning paths. Each subcommand is a file here.
#include "apps/hyper/program.h"

int main(int argc, char** argv) { return hyper::app::RunProgram(argc, argv); }
