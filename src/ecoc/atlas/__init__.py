"""The atlas of optimal codebooks: the best one known for so many classes and columns.

:func:`get` answers offline and in milliseconds from data in the package; an :class:`AtlasCell`
has the distance, the bound with its ground, and the codebook. Codes are kept as recipes, see
:mod:`ecoc.atlas.recipes`, and files as :mod:`ecoc.atlas.cells` says.
"""

from ecoc.atlas.cells import Atlas, AtlasCell, get, packaged_atlas
from ecoc.atlas.recipes import expand_recipe

__all__ = ["Atlas", "AtlasCell", "expand_recipe", "get", "packaged_atlas"]
