"""The search for the smallest and the worst counterexample to a claim, and its confirmation."""

from properties.seeking.found import Effort, Found
from properties.seeking.passes import EXAMPLES, seek
from properties.seeking.sought import Sought

__all__ = ["EXAMPLES", "Effort", "Found", "Sought", "seek"]
