"""C declarations for policy.py."""

from absolve.document.resolved cimport LinkContext


cpdef str absolute_of(str reference, LinkContext context)
