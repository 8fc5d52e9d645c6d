"""Shallow ReLU regression in Gram space: problems, descent to the limit, comparator and gap."""

from verify.relu.descent import Run, descend
from verify.relu.effective_dimensions import EffectiveDimensions
from verify.relu.ensemble import Ensemble, Labels, Start
from verify.relu.gap import implicit_bias_gap
from verify.relu.minimum_norm import MinimumNorm, minimum_norm
from verify.relu.plain import PlainRun, descend_plainly
from verify.relu.problem import Problem
from verify.relu.spectra import Spectrum

__all__ = [
    "EffectiveDimensions",
    "Ensemble",
    "Labels",
    "MinimumNorm",
    "PlainRun",
    "Problem",
    "Run",
    "Spectrum",
    "Start",
    "descend",
    "descend_plainly",
    "implicit_bias_gap",
    "minimum_norm",
]
