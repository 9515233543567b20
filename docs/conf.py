"""How Sphinx builds these pages: ``make docs``."""

from __future__ import annotations

import re
from html import escape
from importlib.metadata import version as _version
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.ext.autosummary import autosummary_toc
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.logging import getLogger

logger = getLogger(__name__)

project = "ecoc"
author = copyright = "The ecoc developers"  # noqa: A001  # Sphinx's own name
version = release = _version("ecoc")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = [
    "config.cache",  # the settings of the gallery hold functions
    "myst.xref_missing",  # links to files of the repository, which a test checks
]

html_theme = "furo"
html_title = "ecoc"
html_show_sourcelink = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"

# What is copied can be run: no prompts, and no output between the lines.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "capture_repr": ("_repr_html_",),
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}


class NoObjectsInSidebar(SphinxTransform):
    """Keeps the pages of two hundred objects out of the sidebar of every page.

    They are reached from the tables of their room. In the sidebar nobody would find anything
    else, and writing it two hundred times takes longer than all the rest.
    """

    default_priority = 700  # before Sphinx collects what is in the contents

    def apply(self, **_: Any) -> None:
        """Take the invisible tables of contents out of a page of the API."""
        for contents in list(self.document.findall(autosummary_toc)):
            contents.parent.remove(contents)


class LinkToApi(SphinxPostTransform):
    """Links the names of public things in running text to their pages.

    A guide writes a name as code, as it does for a reader who has no links; here the first
    mention in each section becomes a link.
    """

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Look at every piece of code in the text of a guide."""
        if self.env.docname.startswith("api/generated/"):
            return
        pages = self._pages()
        seen = set()
        for literal in list(self.document.findall(nodes.literal)):
            name = re.sub(r"\(.*\)$", "", literal.astext()).removeprefix("ecoc.")
            section = _section(literal)
            if (
                name not in pages
                or (name, section) in seen
                or isinstance(literal.parent, nodes.reference | addnodes.pending_xref)
                or _in_heading(literal)
            ):
                continue
            seen.add((name, section))
            reference = addnodes.pending_xref(
                "",
                refdomain="py",
                reftype="obj",
                reftarget=pages[name],
                refexplicit=True,
                refwarn=False,
                refdoc=self.env.docname,
            )
            literal.replace_self(reference)
            reference += literal

    def _pages(self) -> dict[str, str]:
        """The full name of everything that has an unmistakable short one."""
        full: dict[str, set[str]] = {}
        for name, entry in self.env.domains["py"].objects.items():  # type: ignore[attr-defined]
            if entry.objtype == "module" or entry.aliased:
                continue
            parts = name.split(".")
            members = 2 if entry.objtype in {"method", "property", "attribute"} else 1
            full.setdefault(".".join(parts[-members:]), set()).add(name)
        return {short: names.pop() for short, names in full.items() if len(names) == 1}


def _forget_former_names() -> None:
    """Remove the pages of names that the API no longer has, which an earlier build has made."""
    folder = Path(__file__).parent / "api"
    listed = set(re.findall(r"\w+", "".join(page.read_text() for page in folder.glob("*.md"))))
    for page in folder.glob("generated/*.rst"):
        if page.stem.rpartition(".")[2] not in listed:
            page.unlink()


def _trim(_app: Any, document: nodes.document) -> None:
    """Take the empty line from the end of examples, which doctest needs and readers do not."""
    for block in document.findall(nodes.literal_block):
        block.rawsource = block.astext().rstrip()
        block.children = [nodes.Text(block.rawsource)]


def _section(node: nodes.Node) -> int:
    while node.parent is not None and not isinstance(node, nodes.section):
        node = node.parent
    return id(node)


def _in_heading(node: nodes.Node) -> bool:
    while node is not None and not isinstance(node, nodes.title):
        node = node.parent
    return node is not None


def _visit_math(translator: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers show by themselves."""
    is_block = isinstance(node, nodes.math_block)
    try:
        formula = tex2mathml(re.sub(r"\\dots\b", r"\\ldots", node.astext()), as_block=is_block)
    except MathError as error:
        logger.warning("%s", error, location=node)
        formula = f"<code>{escape(node.astext())}</code>"
    translator.body.append(formula)
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Formulas without scripts from elsewhere, links into the API, and no routing of metadata."""
    _forget_former_names()
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math, None))
    app.add_transform(NoObjectsInSidebar)
    app.add_post_transform(LinkToApi)
    app.connect("doctree-read", _trim)
    # scikit-learn adds these methods to estimators for the routing of metadata.
    app.connect(
        "autodoc-skip-member",
        lambda _app, _what, name, _object, skip, _options: skip or name.endswith("_request"),
    )
