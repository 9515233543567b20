"""Checkers of bounds, written from the mathematics: they share no step with what finds a bound."""

from ecoc.bounds.checking.distances import check_bound, check_separation_bound, check_target_bound

__all__ = ["check_bound", "check_separation_bound", "check_target_bound"]
