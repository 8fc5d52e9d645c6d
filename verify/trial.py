"""A trial: a batch of instances with what happened on them, which all claims look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from verify.blame import blaming
from verify.errors import TheoremError
from verify.space import Point

if TYPE_CHECKING:
    from verify.theorem import Theorem


class Trial:
    """A batch of B instances at a point: the problem, what happened, and references on demand.

    point: None for problems that were not drawn from the theorem's space.
    trials: B.   `reference(name)` computes the theorem's comparator of that name, once.
    All claims look at the same trial, so its attributes cannot be set, and the arrays in problem,
    run and references are made read-only: numpy then raises where a function writes into them.
    """

    point: Point | None
    problem: Any
    trials: int

    def __init__(
        self,
        theorem: Theorem,
        point: Point | None,
        problem: Any,
        trials: int,
        simulate: Callable[[Any], Any] | None = None,
    ) -> None:
        self.point = point
        self.problem = problem
        self.trials = trials
        simulator = simulate or theorem.simulate
        freeze(problem)
        self._simulator = simulator
        self._builders = theorem.references
        self._built: dict[str, Any] = {}
        self._asked_for: set[str] = set()

    @property
    def run(self) -> Any:
        """What happened to the problem: simulated when it is first asked for, once."""
        self._asked_for.add("run")
        return self._simulated()

    @property
    def run_was_looked_at(self) -> bool:
        """Whether a function has looked at `run` so far, and not only at references, which may be
        about other dynamics."""
        return "run" in self._asked_for

    def _simulated(self) -> Any:
        if "_run" not in vars(self):
            with blaming("simulate", self._simulator):
                found = self._simulator(self.problem)
            freeze(found)
            self._run = found
        return self._run

    def simulate(self) -> None:
        """Simulate now: what goes wrong is then told, even where nothing looks at the run."""
        self._simulated()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self) or name == "run":
            raise AttributeError(
                f"trial.{name} was set anew, but all claims look at the same trial; use a variable "
                "of your own"
            )
        super().__setattr__(name, value)

    def reference(self, name: str) -> Any:
        """Return the reference called `name`. Raises TheoremError if the theorem has none."""
        if name not in self._built:
            if name not in self._builders:
                known = ", ".join(self._builders) or "none"
                raise TheoremError(f"reference {name!r} is not in the theorem (it has: {known})")
            with blaming("reference", self._builders[name]):
                built = self._builders[name](self.problem, self._simulated())
            freeze(built)
            self._built[name] = built
        return self._built[name]


def freeze(value: Any) -> list[np.ndarray[Any, Any]]:
    """Make the numpy arrays in `value` read-only, and return those that were not.

    Looks into tuples, lists, sets, mappings and the attributes of objects, whatever their depth.
    """
    frozen, seen, ahead = [], {}, [value]
    while ahead:
        part = ahead.pop()
        if id(part) in seen or isinstance(part, _CLOSED):
            continue
        seen[id(part)] = part  # kept, so that its id stays its own
        if isinstance(part, np.ndarray):
            if part.flags.writeable:
                part.flags.writeable = False
                frozen.append(part)
            continue
        if isinstance(part, Mapping):
            ahead.extend(part.values())
        elif isinstance(part, tuple | list | set | frozenset):
            ahead.extend(part)
        ahead.extend(getattr(part, "__dict__", {}).values())
        for kind in type(part).__mro__:
            slots = vars(kind).get("__slots__", ())
            names = (slots,) if isinstance(slots, str) else slots
            ahead.extend(getattr(part, name, None) for name in names)
    return frozen


_CLOSED = (str, bytes, int, float, complex, type, ModuleType, FunctionType, np.random.Generator)
"""What `freeze` does not look into: no state of a problem, but perhaps everybody's."""
