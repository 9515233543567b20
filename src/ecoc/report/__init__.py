"""Self-contained HTML pages of codebooks and results."""

from ecoc.report.model_pages import attack_page, certificate_page, fit_page
from ecoc.report.page import codebook_page, design_page, page
from ecoc.report.reproduction_page import (
    reproduction_latex,
    reproduction_markdown,
    reproduction_page,
)

__all__ = [
    "attack_page",
    "certificate_page",
    "codebook_page",
    "design_page",
    "fit_page",
    "page",
    "reproduction_latex",
    "reproduction_markdown",
    "reproduction_page",
]
