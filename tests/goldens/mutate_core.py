#!/usr/bin/env python3
"""Checks that the tests of src/core notice when a formula is changed.

Each mutation replaces one piece of one source file (a wrong sign, a wrong k, a lost term); the tests
must then fail. Works on a copy in a temporary folder and compiles without optimisation. Run by hand:
  tests/goldens/mutate_core.py VENDOR_DIR     (the folder that holds nlohmann/json.hpp)
Prints a line per mutation; the exit status is the number of those that no test noticed.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# None that changes no result: the sum log_sums[k] shifts all logits of a route alike, which the
# normalisation undoes; kLanes is a matter of speed.
MUTATIONS = [
    # file, original, mutant
    ("aggregate.cc", "(confidence - largest) / temperature", "(largest - confidence) / temperature"),
    ("aggregate.cc", "(confidence - largest) / temperature", "(confidence - largest) * temperature"),
    ("aggregate.cc", "value - summary.log_sum_exp", "value"),
    ("aggregate.cc", "options.k + 1", "options.k"),
    ("confidence.cc", "return used == 0 ? kNan : -sum / used;", "return used == 0 ? kNan : sum / used;"),
    ("confidence.cc", "return used == 0 ? kNan : -sum / used;", "return used == 0 ? kNan : -sum / k;"),
    ("confidence.cc", "if (used >= k) break;", "if (used > k) break;"),
    ("confidence.cc", "candidate.token == chosen", "candidate.token != chosen"),
    ("confidence.cc", "entropy -= entry.probability", "entropy += entry.probability"),
    ("confidence.cc", "entry.probability /= total", "entry.probability /= 1"),
    ("confidence.cc", "recent_.size() > window_", "recent_.size() >= window_"),
    ("confidence.cc", "std::min(lowest_window_sum_, window_sum_)", "std::max(lowest_window_sum_, window_sum_)"),
    ("confidence.cc", "std::floor(fraction *", "std::ceil(fraction *"),
    ("confidence.h", "kLogProbFloor = -60.0", "kLogProbFloor = -50.0"),
    ("confidence.h", "double fraction = 0.1", "double fraction = 0.2"),
    ("controller.cc", "(c + (1 - h) + d) / 3", "(c + h + d) / 3"),
    ("controller.cc", "(c + (1 - h) + d) / 3", "(c + (1 - h) - d) / 3"),
    ("controller.cc", "((1 - c) + h + (1 - beta)) / 3", "((1 - c) + h + beta) / 3"),
    ("controller.cc", "((1 - c) + h + (1 - beta)) / 3", "((1 - c) - h + (1 - beta)) / 3"),
    ("controller.cc", "((1 - d) + (1 - c) + v) / 3", "((1 - d) + (1 - c) - v) / 3"),
    ("controller.cc", "((1 - d) + (1 - c) + v) / 3", "((1 - d) + (1 - c) + v) / 2"),
    ("controller.cc", "((1 - d) + (1 - beta)) / 2", "(d + (1 - beta)) / 2"),
    ("controller.cc", "((1 - d) + (1 - beta)) / 2", "((1 - d) + (1 - beta)) / 3"),
    ("controller.cc", "scores[i] > scores[", "scores[i] >= scores["),
    ("controller.cc", "std::min(ratio, 1.0)", "ratio"),
    ("controller.cc", "value <= maximum.value", "value < maximum.value"),
    ("controller.cc", "return (width - 1) / survivors + 1", "return width / survivors"),
    ("levenshtein.cc", "int carry = 1;", "int carry = 0;"),
    ("levenshtein.cc", "equal |= carry_minus;", ""),
    ("levenshtein.cc", "plus << 1 | carry_plus", "plus << 1"),
    ("levenshtein.cc", "minus << 1 | carry_minus", "minus << 1"),
    ("logits.cc", "exponentials *= std::exp(static_cast<double>(max) - peak.max);", ""),
    ("logits.cc", "(n_vocab - unmasked) * kLogProbFloor", "0"),
    ("logits.cc", "a.logprob > b.logprob", "a.logprob >= b.logprob"),
    ("logits.cc", "has_nan = has_nan || peak.has_nan;", ""),
    ("logits.cc", "static_cast<double>(max) * sums.unmasked", "0"),
    ("pool_stats.cc", "0.5 * (p_value + q_value)", "(p_value + q_value)"),
    ("pool_stats.cc", "0.5 * DivergenceTerm(q_value, mixture)", "0.5 * DivergenceTerm(p_value, mixture)"),
    ("pool_stats.cc", "probability * std::log(probability / mixture)", "probability * std::log2(probability / mixture)"),
    ("pool_stats.cc", "return 2 * sum /", "return sum /"),
    ("pool_stats.cc", "std::max(paths[p].suffix.size()", "std::min(paths[p].suffix.size()"),
    ("pool_stats.cc", "(1 - eta) * statistics", "eta * statistics"),
    ("pool_stats.cc", "DistributionDiversity(paths, k)", "DistributionDiversity(paths, k + 1)"),
    ("pool_stats.cc", "(path.confidence - mean) * (path.confidence - mean)", "(path.confidence - mean)"),
    ("random.cc", "round < 10", "round < 9"),
    ("random.cc", "0x9E3779B9", "0x9E3779B8"),
    ("random.cc", "| a << 8", ""),
    ("random.cc", ") + 0.5) * 0x1p-52", ")) * 0x1p-52"),
    ("random.cc", "-std::log(-std::log(uniform))", "std::log(-std::log(uniform))"),
    ("random.cc", "{position, SecondWord(Purpose::kRoute, layer), route,", "{position, SecondWord(Purpose::kRoute, layer), 1,"),
    ("random.cc", "{decision_step, SecondWord(Purpose::kChild, 0), child, 0}", "{decision_step, SecondWord(Purpose::kChild, 0), 0, 0}"),
    ("routing.cc", "row[e] -= lambda *", "row[e] += lambda *"),
    ("routing.cc", "std::tanh(score_sum_[e])", "score_sum_[e]"),
    ("routing.cc", "noisy[e] += tau * noise[e]", "noisy[e] += noise[e]"),
    ("routing.cc", "noisy[e] += tau * noise[e]", "noisy[e] -= tau * noise[e]"),
    ("routing.cc", "  AddScores(noisy);", "  AddScores(penalised);"),
    ("routing.cc", "softmax ? probabilities[e] : noisy[e]", "noisy[e]"),
    ("routing.cc", "value > Orderable(", "value >= Orderable("),
    ("routing.cc", "score_sum_[e] < 0", "score_sum_[e] > 0"),
    ("sampling.cc", "a.logit > b.logit : a.token < b.token", "a.logit > b.logit : a.token > b.token"),
    ("sampling.cc", "std::min(1 / temperature, 1e30)", "std::min(temperature, 1e30)"),
    ("sampling.cc", "sum >= mass", "sum > 1.05 * mass"),
    ("sampling.cc", "each.weight < spec.min_p", "each.weight < 2 * spec.min_p"),
    ("sampling.cc", "spec.top_p * sum", "spec.top_p * sum * 0.9"),
    ("sampling.cc", "if (sum + block > target) break;", "if (sum > target) break;"),
    ("threshold.cc", "window.full() && ", ""),
    ("threshold.cc", "window.WindowMean() < threshold", "window.WindowMean() <= threshold"),
    ("threshold.cc", "window.WindowMean() < threshold", "window.TraceMean() < threshold"),
    ("threshold.cc", "sorted[sorted.size() - kept]", "sorted[kept - 1]"),
    ("threshold.cc", "static_cast<double>(sorted.size() - 1)", "static_cast<double>(sorted.size())"),
    ("vote.cc", "options_.lambda_length * Ratio(ballot.length, length_sum_)", "options_.lambda_confidence * Ratio(ballot.length, length_sum_)"),
    ("vote.cc", "Ratio(ballot.confidence, largest_confidence_)", "Ratio(ballot.confidence, length_sum_)"),
    ("vote.cc", "std::exp(LinearWeight(ballot))", "1 + LinearWeight(ballot)"),
    ("vote.cc", "score.paths >= counts[wanted - 1]", "score.paths > counts[wanted - 1]"),
    ("vote.cc", "counts[wanted - 1]", "counts[wanted]"),
    ("vote.cc", "return ballot.lowest_window;", "return ballot.confidence;"),
    ("vote.cc", "confidence > kMaxConfidence ? largest_sound : 0.0", "confidence > kMaxConfidence ? kMaxConfidence : 0.0"),
    ("vote.cc", "a.paths > b.paths", "a.paths < b.paths"),
    ("vote.cc", "a.confidence_sum > b.confidence_sum", "a.confidence_sum < b.confidence_sum"),
    ("vote.cc", "votes > total - votes", "votes >= total - votes"),
    ("vote.cc", "std::sort(values.begin(), values.end());", ""),
]

CMAKE = """cmake_minimum_required(VERSION 3.25)
project(mutants CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(GTest REQUIRED)
find_package(hwy REQUIRED)
file(GLOB sources src/core/*.cc src/base/result.cc)
# Nothing of them is changed, and they need CBC.
list(FILTER sources EXCLUDE REGEX "(ets|binary)_program")
set(tests ${{sources}})
list(FILTER sources EXCLUDE REGEX "_test.cc$")
list(FILTER tests INCLUDE REGEX "_test.cc$")
add_executable(core_test ${{sources}} ${{tests}})
target_include_directories(core_test PRIVATE include . {vendor})
target_compile_definitions(core_test PRIVATE HYPER_SOURCE_DIR="${{CMAKE_SOURCE_DIR}}")
target_link_libraries(core_test PRIVATE hwy GTest::gtest_main)
"""


def tests_pass(build):
    made = subprocess.run(["cmake", "--build", build], capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit("a mutant does not compile:\n" + made.stdout[-2000:])
    try:
        return subprocess.run([f"{build}/core_test", "--gtest_brief=1"], capture_output=True,
                              timeout=300).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main():
    vendor = pathlib.Path(sys.argv[1]).resolve()
    unnoticed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        shutil.copytree(ROOT / "include", tree / "include")
        shutil.copytree(ROOT / "src/base", tree / "src/base")
        shutil.copytree(ROOT / "src/core", tree / "src/core")
        shutil.copytree(ROOT / "tests/goldens", tree / "tests/goldens")
        (tree / "CMakeLists.txt").write_text(CMAKE.format(vendor=vendor))
        build = f"{folder}/build"
        subprocess.run(["cmake", "-S", folder, "-B", build, "-G", "Ninja"], check=True,
                       stdout=subprocess.DEVNULL)
        if not tests_pass(build):
            sys.exit("the tests fail before any mutation")
        for name, original, mutant in MUTATIONS:
            path = tree / "src/core" / name
            text = path.read_text()
            if original not in text:
                sys.exit(f"{name} does not contain: {original}")
            path.write_text(text.replace(original, mutant, 1))
            noticed = not tests_pass(build)
            path.write_text(text)
            unnoticed += not noticed
            print("noticed  " if noticed else "UNNOTICED", name, "|", original, "->", mutant,
                  flush=True)
    print(f"{len(MUTATIONS)} mutations, {unnoticed} unnoticed")
    sys.exit(min(unnoticed, 100))


if __name__ == "__main__":
    main()
