"""Samples paths from a checkpoint of train.py into a file that bench/widths.py and signals.py read.

  python sample.py STATE.pt POOL.db --kinds join,orbit --levels 2,3,4 --questions 8 --paths 64

Quick enough to choose levels and the mix while a model trains: no export, many paths a step. The
questions are of tuning seeds. Figures to publish come from `hyper eval`. Running the same command
again goes on where it stopped.
"""

from __future__ import annotations

import argparse
import random
import re
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor

import data
import problems
import searches
from model import Config, TinyMoE, rotate
from train import finished_weights

FIRST_SEED = 1_090_000_000  # of the tuning seeds, above those of suite/
CANDIDATES, MANY_CANDIDATES = 8, 20  # of the confidence
TABLES = """
CREATE TABLE IF NOT EXISTS questions(id INTEGER PRIMARY KEY, name TEXT UNIQUE, text TEXT, gold TEXT,
  "group" TEXT);
CREATE TABLE IF NOT EXISTS items(id INTEGER PRIMARY KEY, question INTEGER, status TEXT);
CREATE TABLE IF NOT EXISTS paths(item INTEGER, path INTEGER, status TEXT, tokens INTEGER,
  text TEXT, answer TEXT);
CREATE TABLE IF NOT EXISTS series(item INTEGER, path INTEGER, name TEXT, data BLOB);
"""


class Path(NamedTuple):
    """A sampled path: its tokens, and for each of them the recorded values by name."""

    tokens: list[int]
    series: dict[str, list[float]]


class Decoder:
    """The model of model.py with a cache of keys and values: one token of each row a step."""

    def __init__(self, model: TinyMoE):
        self.model = model
        self.config = model.config
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def experts(self, moe: torch.nn.Module, x: Tensor) -> Tensor:
        """The mixture for x [B, D], every expert on every row: quick for few rows."""
        probabilities = moe.router(x).softmax(-1)
        weights, chosen = probabilities.topk(self.config.experts_per_token, -1)
        weights = weights / weights.sum(-1, keepdim=True)
        dense = torch.zeros_like(probabilities).scatter_(-1, chosen, weights)
        gate, up = torch.matmul(x, moe.wi).chunk(2, -1)
        inner = F.silu(gate) * up * dense.T.unsqueeze(-1)
        return torch.bmm(inner, moe.wo).sum(0)

    def start(self, prompts: list[list[int]], capacity: int) -> None:
        """Empties the cache; a row for each prompt."""
        shape = (len(prompts), self.config.kv_heads, capacity, self.config.head_width)
        self.keys = [torch.zeros(shape) for _ in range(self.config.layers)]
        self.values = [torch.zeros(shape) for _ in range(self.config.layers)]

    def keep(self, rows: Tensor) -> None:
        """Leaves only these rows in the cache."""
        self.keys = [key[rows] for key in self.keys]
        self.values = [value[rows] for value in self.values]

    def step(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Logits [B, vocabulary] after one token [B] of each row at its position [B]."""
        model, config = self.model, self.config
        x = model.emb(tokens)
        rows = torch.arange(len(tokens))
        length = int(positions.max()) + 1
        visible = (torch.arange(length) <= positions[:, None])[:, None, None]
        cos = model.cos[positions][:, None, None]
        sin = model.sin[positions][:, None, None]
        for block, keys, values in zip(model.blocks, self.keys, self.values):
            attention = block.att
            qkv = attention.qkv(block.n1(x)).view(len(x), 1, -1, config.head_width)
            q, k, v = qkv.split((config.heads, config.kv_heads, config.kv_heads), 2)
            q = rotate(attention.qn(q).transpose(1, 2), cos, sin)
            k = rotate(attention.kn(k).transpose(1, 2), cos, sin)
            keys[rows, :, positions] = k[:, :, 0]
            values[rows, :, positions] = v[:, 0]
            y = F.scaled_dot_product_attention(
                q.view(len(x), config.kv_heads, -1, config.head_width),
                keys[:, :, :length],
                values[:, :, :length],
                attn_mask=visible,
            )
            x = x + attention.o(y.reshape(len(x), -1))
            x = x + self.experts(block.moe, block.n2(x))
        return model.head(model.norm(x))


def token_values(log_p: Tensor, chosen: Tensor) -> dict[str, Tensor]:
    """What `hyper eval` stores of a token, from log P [B, vocabulary] and the chosen tokens [B]."""
    own = log_p.gather(1, chosen[:, None]).squeeze(1)
    best = log_p.topk(MANY_CANDIDATES, -1).values
    head = best[:, : CANDIDATES + 1]
    is_head = (own >= head[:, CANDIDATES - 1]).float()
    # The chosen token is left out; where it is not among the best, the last one is.
    left_out = is_head * own + (1 - is_head) * head[:, CANDIDATES]
    few = best[:, :CANDIDATES].log_softmax(-1)
    return {
        "logprob": own,
        "confidence": -(head.sum(1) - left_out) / CANDIDATES,
        "confidence_top20": -best.mean(1),
        "entropy": -(few.exp() * few).sum(1),
        "mean_logprob": log_p.clamp_min(-60).mean(1),
    }


@torch.no_grad()
def sample(
    decoder: Decoder, prompts: list[list[int]], end: int, limit: int, temperature: float
) -> list[Path]:
    """One path for each prompt, of at most `limit` tokens; equal prompts give different paths."""
    paths = [Path([], {}) for _ in prompts]
    decoder.start(prompts, max(map(len, prompts)) + limit)
    rows = list(range(len(prompts)))
    position = 0
    while rows:
        tokens = [(prompts[row] + paths[row].tokens)[position] for row in rows]
        positions = torch.full((len(rows),), position)
        log_p = decoder.step(torch.tensor(tokens), positions).log_softmax(-1)
        chosen = torch.multinomial((log_p / temperature).softmax(-1), 1).squeeze(1)
        position += 1
        values = {name: value.tolist() for name, value in token_values(log_p, chosen).items()}
        for at, token in enumerate(chosen.tolist()):
            path = paths[rows[at]]
            if position >= len(prompts[rows[at]]):
                path.tokens.append(token)
                for name, value in values.items():
                    path.series.setdefault(name, []).append(value[at])
        left = [
            at
            for at, row in enumerate(rows)
            if not paths[row].tokens
            or (paths[row].tokens[-1] != end and len(paths[row].tokens) < limit)
        ]
        if len(left) < len(rows):
            decoder.keep(torch.tensor(left, dtype=torch.long))
            rows = [rows[at] for at in left]
    return paths


def drafts(arguments: argparse.Namespace) -> Iterator[tuple[str, str, problems.Problem]]:
    """(name, group, question) of every kind and level asked for; old kinds under the kind `old`."""
    kinds = {kind.__name__: kind for kind in [*searches.SEARCHES, searches.join]}
    for kind in arguments.kinds.split(","):
        for level in map(int, arguments.levels.split(",")):
            for seed in range(FIRST_SEED, FIRST_SEED + arguments.questions):
                if kind == "old":
                    problem = problems.problem(seed, level)
                elif kind == "all":
                    problem = searches.problem(seed, level)
                else:
                    draft = kinds[kind](random.Random(f"tinysearch-{kind}-{seed}"), level)
                    problem = problems.Problem(
                        draft.question, str(draft.value), draft.solve, kind, level
                    )
                yield f"{kind}-{level}-{seed}", f"{kind}-{level}", problem


def store(
    pool: sqlite3.Connection,
    name: str,
    group: str,
    problem: problems.Problem,
    paths: list[Path],
    tokenizer: Tokenizer,
    end: int,
) -> None:
    """One question with its paths, all or nothing."""
    row = (name, problem.question, problem.answer, group)
    values = 'INSERT INTO questions(name, text, gold, "group") VALUES(?, ?, ?, ?)'
    question = pool.execute(values, row).lastrowid
    item = pool.execute(
        "INSERT INTO items(question, status) VALUES(?, 'done')", (question,)
    ).lastrowid
    for number, path in enumerate(paths):
        text = tokenizer.decode(path.tokens, skip_special_tokens=False)
        found = re.findall(r"\\boxed\{(\w+)\}", text)
        status = "finished" if path.tokens[-1] == end else "cut"
        pool.execute(
            "INSERT INTO paths VALUES(?, ?, ?, ?, ?, ?)",
            (item, number, status, len(path.tokens), text, found[-1] if found else None),
        )
        for name_of, series in path.series.items():
            data_of = torch.tensor(series).numpy().astype("<f4").tobytes()
            pool.execute("INSERT INTO series VALUES(?, ?, ?, ?)", (item, number, name_of, data_of))
    pool.commit()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint")
    parser.add_argument("pool", help="file to write, or to go on with")
    parser.add_argument(
        "--kinds", default="all", help="of searches.py; all: as drawn; old: problems.py"
    )
    parser.add_argument("--levels", default="1,2,3,4")
    parser.add_argument("--questions", type=int, default=8, help="of each kind and level")
    parser.add_argument("--paths", type=int, default=64, help="of each question")
    parser.add_argument("--limit", type=int, default=800, help="longest path, in tokens")
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--rows", type=int, default=256, help="decoded side by side")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    model = TinyMoE(Config())
    model.load_state_dict(finished_weights(arguments.checkpoint))
    decoder = Decoder(model)
    tokenizer = Tokenizer.from_file(data.TOKENIZER_FILE)
    end = tokenizer.token_to_id("<|im_end|>")
    pool = sqlite3.connect(arguments.pool)
    pool.executescript(TABLES)
    known = {name for (name,) in pool.execute("SELECT name FROM questions")}
    waiting = [each for each in drafts(arguments) if each[0] not in known]
    together = max(1, arguments.rows // arguments.paths)
    for first in range(0, len(waiting), together):
        chunk = waiting[first : first + together]
        prompts = [problems.render(p.question, "", "")[0] for _, _, p in chunk]
        ids = [e.ids for e in tokenizer.encode_batch(prompts, add_special_tokens=False)]
        torch.manual_seed(first)
        rows = [each for each in ids for _ in range(arguments.paths)]
        paths = sample(decoder, rows, end, arguments.limit, arguments.temperature)
        for at, (name, group, problem) in enumerate(chunk):
            own = paths[at * arguments.paths : (at + 1) * arguments.paths]
            store(pool, name, group, problem, own, tokenizer, end)


if __name__ == "__main__":
    main()
