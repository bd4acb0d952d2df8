"""GET /hyper/capabilities and /hyper/stats of `vllm serve`; loaded with VLLM_PLUGINS=hyper."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI, HTTPException, Request

import vllm_hyper
from vllm_hyper.spec import MAX_ROUTES

if TYPE_CHECKING:
    from starlette.datastructures import State
    from vllm.engine.protocol import EngineClient

router = APIRouter(prefix="/hyper")


async def _ask(request: Request, method: str) -> list[dict[str, Any]]:
    """The workers' answers, one per worker."""
    client = getattr(request.app.state, "hyper_client", None)
    if client is None:
        raise HTTPException(503, "this server has no engine to refine tokens in")
    try:
        answers: list[dict[str, Any]] = await client.collective_rpc(method)
    except Exception as error:  # the engine's own, of many kinds
        raise HTTPException(
            501, f"the workers do not refine tokens; was --worker-cls given? ({error})"
        ) from error
    return answers


@router.get("/capabilities")
async def capabilities(request: Request) -> dict[str, Any]:
    """What `vllm_xargs` may ask of this server. All workers hold the same layers."""
    [first, *_] = await _ask(request, "hyper_capabilities")
    return {
        "routing": True,
        "max_routes": min(MAX_ROUTES, first["max_extra_rows"] + 1),
        "weights": ["noisy"],
        "version": vllm_hyper.__version__,
        **first,
    }


@router.get("/stats")
async def stats(request: Request) -> dict[str, int]:
    """Counts since the start. All ranks of one engine count the same forwards."""
    [first, *_] = await _ask(request, "hyper_statistics")
    return first


class HyperEndpoints:
    name = "hyper"
    required_tasks = ("generate",)

    def attach_router(self, app: FastAPI) -> None:
        app.include_router(router)

    async def init_state(
        self, engine_client: EngineClient | None, state: State, args: Namespace
    ) -> None:
        state.hyper_client = engine_client
