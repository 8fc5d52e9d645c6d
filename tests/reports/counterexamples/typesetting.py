"""LaTeX blocks typeset as an article would have them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path


def typeset(blocks: Iterable[str], folder: Path) -> bytes:
    """Typeset blocks one after the other; return what pdflatex says, which must not fail."""
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
    text = head + "\n\n".join(blocks) + "\n\\end{document}\n"
    (folder / "it.tex").write_text(text, encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "it.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout
