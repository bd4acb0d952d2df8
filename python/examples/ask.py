"""Asks the bundled model, or a GGUF file: ask.py [MODEL.gguf]"""

import sys

import hyper_decode

with hyper_decode.Model(*sys.argv[1:2]) as model:
    result = model.ask("Start with 12, add 7, multiply by 5. What is the result?", width=16, seed=7)

print(result.answer)
for tally in result.vote.scores:
    print(f"  {tally.answer}: {tally.paths} paths")
print(f"{result.ledger.effective} effective tokens")
