"""How Sphinx builds these pages: ``make docs``."""

from importlib.metadata import version as _version

project = "ecoc"
author = copyright = "The ecoc developers"  # noqa: A001  # Sphinx's own name
version = release = _version("ecoc")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # links to files of the repository, which a test checks

html_theme = "furo"
html_title = "ecoc"
html_show_sourcelink = False
html_show_copyright = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False


def setup(app: object) -> None:
    """Leave out what scikit-learn adds to estimators for the routing of metadata."""
    app.connect(  # type: ignore[attr-defined]
        "autodoc-skip-member",
        lambda _app, _what, name, _object, skip, _options: skip or name.endswith("_request"),
    )
