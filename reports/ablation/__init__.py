"""Ablations: what is told of them as JSON, text, table and page."""
