"""C layout of arrow_batches.py."""

from absolve.core.column_buffers cimport DictColumn, IntColumn, TextColumn
from absolve.document.resolved cimport shown
from absolve.inventory.columns cimport Columns

cdef TextColumn _texts(object cells)
cdef object _cells(str name, object cells)
cdef object _numbered(IntColumn numbers, list[str] words)
cdef object _ruled(DictColumn rows, str name)
