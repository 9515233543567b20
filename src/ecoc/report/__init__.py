"""Self-contained HTML pages of codebooks and results."""

from ecoc.report.fit_page import fit_page
from ecoc.report.page import codebook_page, design_page, page
from ecoc.report.reproduction_page import reproduction_page
from ecoc.report.reproduction_text import reproduction_markdown
from ecoc.report.robustness_page import attack_page, certificate_page

__all__ = [
    "attack_page",
    "certificate_page",
    "codebook_page",
    "design_page",
    "fit_page",
    "page",
    "reproduction_markdown",
    "reproduction_page",
]
