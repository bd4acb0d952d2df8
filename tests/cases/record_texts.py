#!/usr/bin/env python3
"""Records loops.jsonl and sound.jsonl: texts of real small models, for the test of the loop guard.

  tests/cases/record_texts.py HYPER RAW.jsonl MODEL.gguf [MODEL.gguf...]
Each prompt is answered by a pool without the loop guard; RAW keeps every path, so that a second call
goes on where the first ended. The two files are then written anew from RAW by rules that know nothing
of the guard:
  sound  the model ended the text by itself
  loop   the text ran into --max-tokens and its last 1,500 bytes compress to a tenth by zlib
Other texts that ran into --max-tokens are neither.
"""
import json
import pathlib
import subprocess
import sys
import zlib

HERE = pathlib.Path(__file__).parent
WIDTH = 12
MAX_TOKENS = 800
PROMPTS = [
    "Count to 100.", "Tom has 12 apples and buys 7 more. How many apples does he have?",
    "Explain why the sky is blue.", "List the prime numbers below 60, one on each line.",
    "Write a Python function that returns the nth Fibonacci number, with tests.",
    "What is the sum of the first 20 positive integers?",
    "A train covers 180 km in 2.5 hours. What is its mean speed?",
    "Write a poem of four verses, each with the same last line.",
    "Make a table of the squares and cubes of the numbers 1 to 12.",
    "Name ten fruits and one fact about each.", "Solve 3x + 5 = 26 and check the result.",
    "Write HTML for a page with a list of twenty links.",
    "Tell me a story about a cat that repeats everything it hears.",
    "Compute 17 * 23 step by step.", "Compute the first 15 powers of 2.",
    "Explain photosynthesis to a child.", "Give the times tables of 7 and 8.",
    "How many ways are there to seat 5 people in a row?",
    "Write a short dialogue between a teacher and a pupil about fractions.",
    "Prove that the square root of 2 is irrational.",
    "Write a C program that prints a triangle of stars.",
    "What are the differences between mitosis and meiosis?",
    "Write the matrix of the identity of size 6 in LaTeX.",
]
SUMS = [
    "Rosa has 14 bags with 30 cards each. How many cards has she?",
    "Start with 12, add 7, multiply by 5.", "12 * (7 + 5) = ?",
    "Start with 90, subtract 18, divide by 4, add 33.",
    "A shop sells 26 pens for 3 dollars each. How much is that?",
    "(81 - 27) * 4 - 19 = ?", "Start with 5, multiply by 8, subtract 13, multiply by 2.",
    "Mia has 64 marbles and loses 17. How many marbles has she?", "Start with 7, multiply by 9, add 28.",
    "(45 + 19) * 3 = ?", "A box holds 12 eggs. How many eggs are in 15 boxes?",
]


def record(program, model, prompt, temperature, raw):
    """Appends every path of one pool to RAW."""
    key = [model.stem, prompt, temperature]
    if key in [[r["model"], r["prompt"], r["temperature"]] for r in map(json.loads, raw.open())]:
        return
    done = subprocess.run(
        [program, "run", "-m", model, "--method", "sc", "--width", str(WIDTH), "--max-tokens",
         str(MAX_TOKENS), "--loop-guard", "off", "--stop", "never", "--seed", "1", "--json", "--no-log",
         "--temperature", str(temperature), prompt], check=True, stdout=subprocess.PIPE)
    with raw.open("a") as file:
        for path in json.loads(done.stdout)["paths"]:
            file.write(json.dumps({
                "model": model.stem, "prompt": prompt, "temperature": temperature, "path": path["id"],
                "ended": path["status"] == "finished", "text": path["text"]}) + "\n")


def is_loop(text):
    tail = text.encode()[-1500:]
    return len(tail) == 1500 and len(zlib.compress(tail, 9)) * 10 <= len(tail)


def write(name, rows):
    with (HERE / name).open("w") as file:
        for row in rows:
            kept = {key: row[key] for key in ("model", "prompt", "temperature", "path", "text")}
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")
    print(len(rows), name)


def main():
    program, raw, *models = sys.argv[1:]
    raw = pathlib.Path(raw)
    raw.touch()
    for model in map(pathlib.Path, models):
        tiny, base = "tinymath" in model.stem, "gemma" in model.stem  # a base model never ends a text
        for prompt in SUMS if tiny else PROMPTS[:2] if base else PROMPTS:
            for temperature in (0.7, 0.2) if tiny else (0.7,):
                record(program, model, prompt, temperature, raw)
    rows = [json.loads(line) for line in raw.open()]
    write("sound.jsonl", [row for row in rows if row["ended"]])
    write("loops.jsonl", [row for row in rows if not row["ended"] and is_loop(row["text"])])


if __name__ == "__main__":
    main()
