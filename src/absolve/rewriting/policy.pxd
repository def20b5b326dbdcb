"""C signatures of policy.py."""

from absolve.document.resolved cimport Rule


cpdef str absolute_of(str reference, Rule rule)
