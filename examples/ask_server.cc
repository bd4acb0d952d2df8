// Asks a model on a server with an OpenAI API, such as vLLM: the same algorithm, with the model
// elsewhere.
//   ask_server http://host:8000/v1 QUESTION
#include <hyper/ask.h>
#include <hyper/remote_engine.h>

#include <cstdio>
#include <memory>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: ask_server URL QUESTION\n");
    return 64;
  }
  hyper::RemoteOptions server;
  server.urls = {argv[1]};
  hyper::Result<std::unique_ptr<hyper::Engine>> engine = hyper::MakeRemoteEngine(server);
  if (!engine) {
    std::fprintf(stderr, "%s\n", engine.error().message.c_str());
    return 1;
  }
  hyper::AskOptions options;
  options.seed = 7;
  const hyper::Result<hyper::SessionResult> result = hyper::Ask(**engine, argv[2], options);
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    return 1;
  }
  std::printf("%s\n", result->answer.value_or("no answer").c_str());
  return 0;
}
