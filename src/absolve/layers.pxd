"""C signatures of layers.py."""

from absolve.bases cimport Bases
from absolve.entity cimport Entity
from absolve.model cimport Part


cpdef Bases around_part(Entity entity, Part part, str media_type)
cpdef Bases established(Entity entity, Bases around, list claims)
