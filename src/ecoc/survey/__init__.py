"""The survey behind the atlas: making its cells, and verifying all of them.

:func:`build_atlas` fills an atlas, goes on where it was left and replaces cells by better
ones; reading an atlas is in :mod:`ecoc.atlas`.
"""

from ecoc.survey.build import SURVEYED_SYMBOLS, BuildOutcome, BuildProgress, build_atlas

__all__ = ["SURVEYED_SYMBOLS", "BuildOutcome", "BuildProgress", "build_atlas"]
