"""The HTML report: one self-contained page, with its figures, from report.json alone."""
