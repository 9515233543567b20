"""Self-contained HTML pages of codebooks and results."""

from ecoc.report.fit_page import fit_page
from ecoc.report.page import codebook_page, design_page, page

__all__ = ["codebook_page", "design_page", "fit_page", "page"]
