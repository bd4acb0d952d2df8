/* Asks a model from C and prints the JSON of the run.
 *   ask_c MODEL.gguf QUESTION
 */
#include <hyper/hyper.h>
#include <stdio.h>
#include <string.h>

/* Shows decisions as they are made. */
static int on_record(const char* record, void* context) {
  (void)context;
  if (strstr(record, "\"record\":\"decision\"") != NULL) {
    fprintf(stderr, "%s\n", record);
  }
  return 0;
}

int main(int argc, char** argv) {
  hyper_engine* engine = NULL;
  char* error = NULL;
  char* result = NULL;
  const char* options = "{\"preset\": \"short\", \"seed\": 7, \"answer-kind\": \"integer\"}";
  if (argc != 3) {
    fprintf(stderr, "usage: ask_c MODEL.gguf QUESTION\n");
    return 64;
  }
  if (hyper_engine_open(argv[1], NULL, &engine, &error) != HYPER_OK ||
      hyper_ask(engine, argv[2], options, on_record, NULL, &result, &error) != HYPER_OK) {
    fprintf(stderr, "%s\n", error);
  } else {
    puts(result);
  }
  const int failed = result == NULL;
  hyper_free(result);
  hyper_free(error);
  hyper_engine_close(engine);
  return failed;
}
