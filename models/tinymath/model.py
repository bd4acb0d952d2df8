"""A small Qwen3-MoE in plain PyTorch (the same maths as Qwen3MoeForCausalLM).

Shapes: B sequences, T positions, D width, E experts, F expert width, K experts per token.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    """Sizes of the bundled model."""

    vocabulary: int = 640
    width: int = 192
    layers: int = 6
    heads: int = 6
    kv_heads: int = 2
    head_width: int = 32
    experts: int = 16
    experts_per_token: int = 4
    expert_width: int = 96
    context: int = 1024
    rope_base: float = 10000.0
    norm_epsilon: float = 1e-6


class RMSNorm(nn.Module):
    """Root-mean-square norm over the last dimension."""

    def __init__(self, size: int, epsilon: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), self.epsilon)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding of x [B, heads, T, head_width], halves as pairs."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Attention(nn.Module):
    """Causal grouped-query attention with normalised queries and keys."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        rows = (config.heads + 2 * config.kv_heads) * config.head_width
        self.qkv = nn.Linear(config.width, rows, bias=False)
        self.o = nn.Linear(config.heads * config.head_width, config.width, bias=False)
        self.qn = RMSNorm(config.head_width, config.norm_epsilon)
        self.kn = RMSNorm(config.head_width, config.norm_epsilon)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """x [B, T, D], cos and sin [context, head_width / 2] -> [B, T, D]."""
        config = self.config
        batch, length, _ = x.shape
        qkv = self.qkv(x).view(batch, length, -1, config.head_width)
        q, k, v = qkv.split((config.heads, config.kv_heads, config.kv_heads), 2)
        cos, sin = cos[:length].to(q.dtype), sin[:length].to(q.dtype)
        q = rotate(self.qn(q).transpose(1, 2), cos, sin)
        k = rotate(self.kn(k).transpose(1, 2), cos, sin)
        y = F.scaled_dot_product_attention(q, k, v.transpose(1, 2), is_causal=True, enable_gqa=True)
        return self.o(y.transpose(1, 2).reshape(batch, length, -1))


class MoE(nn.Module):
    """Top-k mixture of gated experts, weights renormalised over the chosen ones."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        experts, width, inner = config.experts, config.width, config.expert_width
        self.router = nn.Linear(width, experts, bias=False)
        self.wi = nn.Parameter(torch.randn(experts, width, 2 * inner) * width**-0.5)
        residual_scale = (2 * config.layers) ** -0.5
        self.wo = nn.Parameter(torch.randn(experts, inner, width) * inner**-0.5 * residual_scale)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x [B, T, D] -> (the mixture [B, T, D], the load-balance loss: 1 when even)."""
        config = self.config
        shape = x.shape
        x = x.reshape(-1, config.width)
        probabilities = self.router(x).float().softmax(-1)
        weights, chosen = probabilities.topk(config.experts_per_token, -1)
        weights = (weights / weights.sum(-1, keepdim=True)).to(x.dtype)
        # Rows sorted by expert: each expert is one matrix product.
        flat = chosen.flatten()
        order = flat.argsort(stable=True)
        counts = torch.bincount(flat, minlength=config.experts)
        rows = order // config.experts_per_token
        outputs = []
        for expert, inputs in enumerate(x[rows].split(counts.tolist())):
            gate, up = (inputs @ self.wi[expert].to(x.dtype)).chunk(2, -1)
            outputs.append((F.silu(gate) * up) @ self.wo[expert].to(x.dtype))
        y = torch.cat(outputs) * weights.flatten()[order].unsqueeze(1)
        mixed = torch.zeros_like(x).index_add_(0, rows, y.to(x.dtype))
        share = counts.float() / flat.numel()
        balance = config.experts * (share * probabilities.mean(0)).sum()
        return mixed.view(shape), balance


class Block(nn.Module):
    """One pre-norm layer."""

    def __init__(self, config: Config):
        super().__init__()
        self.n1 = RMSNorm(config.width, config.norm_epsilon)
        self.n2 = RMSNorm(config.width, config.norm_epsilon)
        self.att = Attention(config)
        self.moe = MoE(config)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        x = x + self.att(self.n1(x), cos, sin)
        mixed, balance = self.moe(self.n2(x))
        return x + mixed, balance


class TinyMoE(nn.Module):
    """The model: token ids to next-token logits."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.emb = nn.Embedding(config.vocabulary, config.width)
        nn.init.normal_(self.emb.weight, std=0.5)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.width, config.norm_epsilon)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        nn.init.normal_(self.head.weight, std=config.width**-0.5 * 0.5)
        attention_std = (config.heads * config.head_width) ** -0.5 * (2 * config.layers) ** -0.5
        for block in self.blocks:
            nn.init.normal_(block.att.o.weight, std=attention_std)
        exponents = torch.arange(0, config.head_width, 2).float() / config.head_width
        angles = torch.outer(torch.arange(config.context).float(), config.rope_base**-exponents)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """ids [B, T] -> (logits [B, T, vocabulary], mean load-balance loss)."""
        x = self.emb(ids)
        total = 0.0
        for block in self.blocks:
            x, balance = block(x, self.cos, self.sin)
            total = total + balance
        return self.head(self.norm(x)), total / self.config.layers
