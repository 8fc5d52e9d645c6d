"""What a search for counterexamples prints and writes."""
