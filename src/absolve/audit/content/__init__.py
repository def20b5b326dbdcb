"""Find the content of old pages among new ones.

In: the bytes of pages. Out: their blocks of text, and for each old page the new page with its content, with a score.
It knows no URLs, no maps and no links.
"""

from absolve.audit.content.matching import Match, PageText, Pair, match
from absolve.audit.content.text_blocks import HEADING, blocks

__all__ = ["HEADING", "Match", "PageText", "Pair", "blocks", "match"]
