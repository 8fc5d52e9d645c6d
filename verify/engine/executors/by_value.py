"""Functions that are sent to Dask's workers by value, since they have no name of their own.

A scheduler, which reads what it passes on, need not have relu-verify so; and a worker that has
not can say so.
"""

from __future__ import annotations

from collections.abc import Callable


def carry_out_by_value() -> Callable[[bytes], bytes | str]:
    """Return `orders.carry_out` as a function that is sent by value, since it has no name of its
    own: a scheduler need not have relu-verify, and a worker that has not can say so."""

    def carry_out(payload: bytes) -> bytes | str:
        try:
            from verify.engine.executors import orders
        except ImportError as reason:
            import platform

            return f"on {platform.node()} has no relu-verify, or an older one: {reason}"
        return orders.carry_out(payload)

    return carry_out


def environment_by_value() -> Callable[[], bytes]:
    """Return a function, sent by value, for the pickled environment of a worker, or a text that
    says why it cannot tell."""

    def told() -> bytes:
        import pickle

        try:
            from verify.engine.executors.environment import environment
        except ImportError as reason:
            return pickle.dumps(f"has no relu-verify, or an older one: {reason}")
        return pickle.dumps(environment({"verify"}))

    return told
