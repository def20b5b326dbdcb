"""Suggest URLs that are there for URLs that are not: near misses, which are never applied by themselves.

In: URLs, perhaps with titles. Out: for some of them the nearest known URL, with a score.
"""

from absolve.audit.suggest.near_misses import Asked, NearMisses, Suggestion

__all__ = ["Asked", "NearMisses", "Suggestion"]
