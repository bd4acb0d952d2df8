"""Which answers a study's runs gave, and what they cost: study.py STUDY.db"""

import sys

import hyper_decode

with hyper_decode.Study(sys.argv[1]) as study:
    items = study.items().pandas()
    right = items.assign(right=items.verdict == "right")
    print(right.groupby("run").agg({"right": "mean", "generated": "mean", "wall_s": "mean"}))
    study.paths().to_parquet("paths.parquet")
