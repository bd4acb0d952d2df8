#include "src/engine/llama/backend.h"

#include <dlfcn.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <link.h>
#include <log.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>

#include "src/engine/llama/gguf/header.h"
#include "src/engine/llama/native_backend.h"

namespace hyper::llama {
namespace {

// Enough for the reason of a failure; a model in trouble can log a line per tensor.
constexpr size_t kMaxLogBytes = 64U << 10;

// Where this thread's log lines go; null drops them. llama.cpp logs on the calling thread.
thread_local std::string* active_log = nullptr;

void OnLog(ggml_log_level level, const char* text, void* /*unused*/) {
  const bool serious = level == GGML_LOG_LEVEL_WARN || level == GGML_LOG_LEVEL_ERROR;
  if (active_log != nullptr && serious && active_log->size() < kMaxLogBytes) {
    *active_log += level == GGML_LOG_LEVEL_ERROR ? 'E' : 'W';
    *active_log += text;
    if (active_log->back() != '\n') {
      *active_log += '\n';
    }
  }
}

// The innermost guard of this thread, and the number of guards of all threads, which share ggml's
// one callback.
thread_local AssertionGuard* active_guard = nullptr;
std::mutex guards_mutex;
int guards = 0;
ggml_abort_callback_t unguarded = nullptr;

void SilenceLogs() {
  static std::once_flag once;
  std::call_once(once, [] {
    llama_log_set(OnLog, nullptr);
    common_log_set_verbosity_thold(-1);
  });
}

// The library or program that `function` belongs to; empty where it cannot be told.
std::filesystem::path LibraryOf(const void* function) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(function, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
      map == nullptr) {
    return "";
  }
  if (*map->l_name != '\0') {
    return map->l_name;
  }
  // The program itself, which the loader knows by the word it was started with only.
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

std::string FolderOf(const void* function) { return LibraryOf(function).parent_path().string(); }

ggml_backend_reg_t CpuBackend() {
  ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  return device == nullptr ? nullptr : ggml_backend_dev_backend_reg(device);
}

// The backend compiled on this machine, beside the program or libhyper (a build folder) or in
// `folder`; null where there is none that fits.
ggml_backend_reg_t LoadNative(const std::string& folder) {
  std::ifstream file("/proc/cpuinfo");
  std::string cpuinfo;  // of the first processor; all of them take long to tell on a large machine
  for (std::string line; std::getline(file, line) && !line.empty();) {
    cpuinfo += line + '\n';
  }
#ifdef __x86_64__
  // valgrind shows a lesser processor than the system tells of.
  const bool wide = ProcessorFeatures(cpuinfo).find(" avx512f ") != std::string_view::npos;
  if (wide && __builtin_cpu_supports("avx512f") == 0) {
    return nullptr;
  }
#endif
  const std::string own = FolderOf(reinterpret_cast<const void*>(&LoadBackends));
  for (const std::string& place : {own, folder}) {
    const std::string path = place.empty() ? "" : NativeBackend(place, cpuinfo);
    ggml_backend_reg_t native = path.empty() ? nullptr : ggml_backend_load(path.c_str());
    if (native != nullptr) {
      return native;
    }
  }
  return nullptr;
}

// Takes back the other CPU backend that ggml chose besides `native`. Nothing has used it yet.
void LeaveOnly(ggml_backend_reg_t native) {
  for (size_t i = ggml_backend_reg_count(); i-- > 0;) {
    ggml_backend_reg_t other = ggml_backend_reg_get(i);
    if (other != native &&
        std::string_view(ggml_backend_reg_name(other)) == ggml_backend_reg_name(native)) {
      ggml_backend_unload(other);
    }
  }
}

// `line` without a leading "llama_xyz: " of llama.cpp.
std::string WithoutFunctionName(const std::string& line) {
  const size_t colon = line.find(": ");
  if (colon == std::string::npos || line.find(' ') < colon) {
    return line;
  }
  return line.substr(colon + 2);
}

}  // namespace

LogCapture::LogCapture() : outer_(active_log) {
  SilenceLogs();
  active_log = &text_;
}

LogCapture::~LogCapture() { active_log = outer_; }

std::string LogCapture::Reason(const std::string& missing) const {
  std::string reason;
  bool error = false;
  // The first error names the cause; later ones repeat that something failed.
  for (size_t begin = 0; begin < text_.size() && !error;) {
    const size_t end = text_.find('\n', begin);
    error = text_[begin] == 'E';
    reason = WithoutFunctionName(text_.substr(begin + 1, end - begin - 1));
    begin = end + 1;
  }
  return reason.empty() ? missing : reason;
}

// `message` is "/folder/file.cpp:12: reason"; the folder is where llama.cpp was compiled.
void OnAssertion(const char* message) {
  if (active_guard == nullptr) {
    std::fprintf(stderr, "%s\n", message);  // ggml ends the process next
    return;
  }
  const std::string_view text = message;
  const size_t folder = text.substr(0, text.find(':')).rfind('/');
  active_guard->failure_ = text.substr(folder == std::string_view::npos ? 0 : folder + 1);
  throw std::runtime_error(active_guard->failure_);
}

AssertionGuard::AssertionGuard() : outer_(active_guard) {
  const std::lock_guard<std::mutex> lock(guards_mutex);
  active_guard = this;
  if (guards++ == 0) {
    unguarded = ggml_set_abort_callback(OnAssertion);
  }
}

AssertionGuard::~AssertionGuard() {
  const std::lock_guard<std::mutex> lock(guards_mutex);
  active_guard = outer_;
  if (--guards == 0) {
    ggml_set_abort_callback(unguarded);
  }
}

Status LoadBackends(const std::string& dir) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  SilenceLogs();
  if (CpuBackend() != nullptr) {
    return {};
  }
  const std::string folder =
      dir.empty() ? FolderOf(reinterpret_cast<const void*>(&llama_backend_init)) : dir;
  ggml_backend_reg_t native = dir.empty() ? LoadNative(folder) : nullptr;
  if (!folder.empty()) {
    ggml_backend_load_all_from_path(folder.c_str());
  }
  if (native != nullptr) {
    LeaveOnly(native);
  }
  if (CpuBackend() == nullptr && dir.empty()) {
    ggml_backend_load_all();
  }
  if (CpuBackend() == nullptr) {
    return Error{ErrorCode::kUnavailable,
                 "no CPU backend of ggml (libggml-cpu-*.so) was found in " + Quoted(folder) +
                     "; set backend_dir to the folder that has it"};
  }
  return {};
}

std::string CpuBackendFile() {
  ggml_backend_reg_t cpu = CpuBackend();
  return cpu == nullptr
             ? ""
             : LibraryOf(ggml_backend_reg_get_proc_address(cpu, "ggml_threadpool_new")).string();
}

std::string CpuBackendName() {
  const std::filesystem::path library = CpuBackendFile();
  if (library.empty()) {
    return "";
  }
  if (library.parent_path().filename() == "native") {
    return "native";
  }
  constexpr std::string_view kPrefix = "libggml-cpu-";
  const std::string name = library.stem().string();
  return name.substr(0, kPrefix.size()) == kPrefix ? name.substr(kPrefix.size()) : "ggml-cpu";
}

bool HasPoolAttention() {
  const std::string file = CpuBackendFile();
  void* library = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) {
    return false;
  }
  const auto has = reinterpret_cast<bool (*)()>(dlsym(library, "hyper_native_pool_attention"));
  const bool answer = has != nullptr && has();
  dlclose(library);
  return answer;
}

std::unique_ptr<ThreadPool> ThreadPool::Make(int threads) {
  using NewFunction = ggml_threadpool_t (*)(ggml_threadpool_params*);
  ggml_backend_reg_t cpu = CpuBackend();
  if (cpu == nullptr) {
    return nullptr;
  }
  auto make =
      reinterpret_cast<NewFunction>(ggml_backend_reg_get_proc_address(cpu, "ggml_threadpool_new"));
  auto free = reinterpret_cast<FreeFunction>(
      ggml_backend_reg_get_proc_address(cpu, "ggml_threadpool_free"));
  if (make == nullptr || free == nullptr) {
    return nullptr;
  }
  ggml_threadpool_params params = ggml_threadpool_params_default(threads);
  ggml_threadpool_t pool = make(&params);
  return pool == nullptr ? nullptr : std::unique_ptr<ThreadPool>(new ThreadPool(pool, free));
}

ThreadPool::~ThreadPool() { free_(pool_); }

void ThreadPool::AttachTo(llama_context* context) const {
  llama_attach_threadpool(context, pool_, pool_);
}

}  // namespace hyper::llama
