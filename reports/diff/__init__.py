"""What changed between two runs: found from their reports, and told as text."""
