"""Reports and theorems as text: lines for a terminal, Markdown, a table in CSV."""
