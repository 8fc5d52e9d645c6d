"""A shard of a run: its share of blocks and of parts of hunts, kept for `relu-verify merge`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reports.exit_codes import ALL_AS_EXPECTED
from reports.runs.damage import telling_damage
from reports.runs.hunting import made_parts, parts, whole_hunts
from reports.runs.running import STORE_NAME, Progress, Settings, error_share, reporter
from reports.runs.summary import computing
from reports.text.counts import count_of
from verify.computing import Computing
from verify.engine.contribute import contribute
from verify.engine.executors import open_executor
from verify.engine.shards import Shard
from verify.engine.store import Store
from verify.theorem import Theorem


@dataclass(frozen=True)
class Share:
    """What a shard holds of a theorem's run.

    blocks, parts: how many are its own, and how many there are.   violated: trials, and searched
    examples, that violate a universal claim of the theorem's own, by its id, where there are any.
    computing: how long its blocks and parts took.
    """

    theorem: str
    blocks: tuple[int, int]
    parts: tuple[int, int]
    violated: Mapping[str, tuple[int, int]]
    computing: Computing


def run_shard(
    theorems: Sequence[Theorem],
    settings: Settings,
    shard: Shard,
    folder: Path,
    progress: Progress | None = None,
) -> Iterator[Share]:
    """Compute a shard's share of a run and keep it in `folder`; yield it theorem by theorem.

    Running the same again goes on where an interrupted one stopped.
    """
    with (
        telling_damage(Store(folder / STORE_NAME)) as store,
        open_executor(settings.executor, settings.jobs) as executor,
    ):
        for theorem in theorems:
            step = reporter(theorem, progress)
            held = contribute(
                theorem,
                shard,
                store,
                profile=settings.profile,
                confidence=1.0 - error_share(theorem, settings.confidence),
                root_seed=settings.seed,
                executor=executor,
                backend=settings.backend,
                progress=step,
            )
            how = settings.profile, settings.seed
            made, searching = made_parts(theorem, *how, executor, store, step, shard)
            searched = {
                claim: hunt.hunted.violated for claim, hunt in whole_hunts(theorem, made).items()
            }
            met = {
                claim.id: (held.violated.get(claim.id, 0), searched.get(claim.id, 0))
                for claim in theorem.claims
            }
            yield Share(
                theorem.address,
                (held.blocks, held.total),
                (len(made), len(parts(theorem, *how))),
                {claim: counts for claim, counts in met.items() if any(counts)},
                held.computing + searching,
            )


def share_lines(share: Share, shard: Shard) -> list[str]:
    """Tell what a shard holds of a theorem, and which of its claims it has met violations of."""
    (blocks, all_blocks), (parts_, all_parts) = share.blocks, share.parts
    held = f"{blocks} of {count_of(all_blocks, 'block')}"
    searched = f"{parts_} of {count_of(all_parts, 'part of a search', 'parts of searches')}"
    lines = [f"shard {shard}  {share.theorem}  {held}, {searched}"]
    lines += [
        f"  violated by {count_of(trials, 'trial')} and "
        f"{count_of(examples, 'searched example')} here: {claim}"
        for claim, (trials, examples) in share.violated.items()
    ]
    return lines


def outcome(shares: Sequence[Share], shard: Shard, seconds: float) -> dict[str, Any]:
    """Return what came of a shard, for the journal (`reports.runs.journal.finish`)."""
    violated = sum(len(share.violated) for share in shares)
    met = f"; violations of {count_of(violated, 'claim')} were met" if violated else ""
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "wall_time_s": round(seconds, 3),
        "computing": computing({share.theorem: share.computing for share in shares}),
        "exit_code": ALL_AS_EXPECTED,
        "sentence": f"Shard {shard} is complete{met}; relu-verify merge tells verdicts.",
    }
