"""C signatures of layers.py."""

from absolve.urls.base cimport Bases
from absolve.document.entity cimport Entity
from absolve.core.model cimport Part


cpdef Bases around_part(Entity entity, Part part, str media_type)
cpdef Bases established(Entity entity, Bases around, list claims)
