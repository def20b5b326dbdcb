"""C layout of rewriter.py."""

from absolve.core.model cimport Edit, Part
from absolve.document.entity cimport Entity
from absolve.document.resolved cimport forget_contexts
from absolve.formats.events cimport EventList
from absolve.rewriting.edits cimport Splicer, lower, moved, shortened
from absolve.rewriting.link_edits cimport LinkEdits
