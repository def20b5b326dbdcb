"""C signatures of layers.py."""

from absolve.core.model cimport Part
from absolve.document.entity cimport Entity
from absolve.urls.base cimport BaseContext, Bases, establish, inherited

cdef object _retrieved(object own, object claims, object settings, object line_of)


cpdef Bases around_part(Entity entity, Part part, str media_type)
cpdef Bases established(Entity entity, Bases around, list claims)
