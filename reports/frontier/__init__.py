"""`relu-verify frontier`: what is asked, what is told in the terminal, as CSV and on a page."""
