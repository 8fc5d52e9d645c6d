"""A plugin for tox: `tox -p` and `pytest -n auto` share the cores, they do not multiply workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tox.plugin import impl
from tox.util.cpu import auto_detect_cpus

if TYPE_CHECKING:
    from tox.config.sets import EnvConfigSet
    from tox.session.state import State


@impl
def tox_add_env_config(env_conf: EnvConfigSet, state: State) -> None:
    env_conf.add_config(
        "workers",
        of_type=int,
        default=lambda *_: max(1, auto_detect_cpus() // at_once(state)),
        desc="pytest-xdist's workers for `-n auto`: this environment's share of the cores",
    )


def at_once(state: State) -> int:
    """Return how many environments this tox runs at the same time."""
    selected = len(list(state.envs.iter(only_active=True))) or 1
    limit = getattr(state.conf.options, "parallel", 0)  # None is no limit, 0 and a run without -p 1
    return selected if limit is None else min(selected, limit or 1)
