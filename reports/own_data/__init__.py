"""The theorems on a researcher's own data: what `relu-verify data` finds, prints and draws."""
