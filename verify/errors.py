"""What can go wrong, as one base exception and a few children.

A message is one sentence: the offending ``name=value``, what was expected, what to try.
"""


class ReluVerifyError(Exception):
    """Base of every error that this project raises on purpose."""


class InputError(ReluVerifyError, ValueError):
    """Something that the caller handed over cannot be used as it is."""


class TheoremError(InputError):
    """A theorem is not written as the vocabulary asks (a claim that returns a bool, say)."""


class UnknownName(InputError):
    """No theorem, claim, profile or level of that name."""


class BackendUnavailable(ReluVerifyError):
    """An array library, a device, workers or an optional data reader is not to be had here."""


class WorkersLost(ReluVerifyError):
    """Worker processes died again and again of the same work: nothing is said of any theorem."""


class StoreError(ReluVerifyError):
    """The record store is unusable, of another version, or contradicts itself."""
