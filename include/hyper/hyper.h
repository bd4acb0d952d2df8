/* The C interface of hyper: load a model, ask, read the answer as JSON. Works from C and from any
 * language that calls C. docs/c-api.md describes the options, docs/json.md the result.
 *
 * Strings are UTF-8 and end in a zero byte. Those in out-parameters belong to the caller, who frees
 * them with hyper_free. No exception leaves these functions, and nothing is
 * printed. Thread rule: calls on one engine must not overlap; different engines are independent.
 */
#ifndef HYPER_HYPER_H_
#define HYPER_HYPER_H_

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended. Numbers are fixed; later versions may add some. */
typedef enum hyper_status {
  HYPER_OK = 0,
  HYPER_INVALID_ARGUMENT = 1,   /* a value is out of its range, or a pointer is null */
  HYPER_NOT_FOUND = 2,          /* a file, method or preset that does not exist */
  HYPER_UNSUPPORTED = 3,        /* the model or engine lacks the ability */
  HYPER_RESOURCE_EXHAUSTED = 4, /* memory, KV cells or lanes ran out */
  HYPER_UNAVAILABLE = 5,        /* a backend or device did not answer */
  HYPER_DATA_LOSS = 6,          /* a file is broken */
  HYPER_CANCELLED = 7,          /* stopped on request */
  HYPER_INTERNAL = 8            /* a bug, or an unexplained failure of a dependency */
} hyper_status;

/* A loaded model with the KV cache it decodes in. */
typedef struct hyper_engine hyper_engine;

/* Version of the library, such as "0.1.0". Static; not to be freed. */
const char* hyper_version(void);

/* Loads the GGUF file `model_path` into `*engine`.
 *   options_json  an object such as {"threads": 2, "ctx": 4096}; null or "": all defaults
 *   error         may be null; otherwise set to one line of what failed, or to null
 * On failure `*engine` is null. Close the engine with hyper_engine_close. */
hyper_status hyper_engine_open(const char* model_path, const char* options_json,
                               hyper_engine** engine, char** error);

/* Frees the engine; null is ignored. */
void hyper_engine_close(hyper_engine* engine);

/* Called for each record as it happens: a path opened, a decision, a path finished, ... The text is
 * one JSON object on one line and lives until the callback returns. Return 0 to go on; anything
 * else stops the run, and its best vote so far is the result, marked partial. It must not call the
 * engine that is asking. */
typedef int (*hyper_record_callback)(const char* record_json, void* context);

/* Answers `question`; blocks until done.
 *   options_json  an object such as {"method": "hyper", "width": 16, "seed": 7}; null or "": all
 *                 defaults
 *   on_record     may be null; `context` is handed through to it
 *   result_json   set to the JSON object of docs/json.md, or to null on failure
 *   error         as above
 * A run without any answer is HYPER_OK with "answer": null. After HYPER_INTERNAL the engine can
 * only be closed; after any other failure it can be asked again. */
hyper_status hyper_ask(hyper_engine* engine, const char* question, const char* options_json,
                       hyper_record_callback on_record, void* context, char** result_json,
                       char** error);

/* Frees a string of this library; null is ignored. */
void hyper_free(char* text);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* HYPER_HYPER_H_ */
