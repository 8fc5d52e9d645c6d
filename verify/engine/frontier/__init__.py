"""Frontiers: where the probability that a claim holds crosses a level."""

from verify.engine.frontier.measure import FrontierProgress, measure_frontier
from verify.frontiers import Frontier, FrontierRequest

__all__ = ["Frontier", "FrontierProgress", "FrontierRequest", "measure_frontier"]
