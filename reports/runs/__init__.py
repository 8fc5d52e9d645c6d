"""Runs: what is computed, kept in a folder, written to report.json, and told again from there."""
