"""Counterexamples as one publishes them: a record, a text, LaTeX, and a checker that stands
alone."""
