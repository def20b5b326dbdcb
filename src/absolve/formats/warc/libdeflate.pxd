"""The functions in C of libdeflate, as the package `deflate` has them in its own module, which wants no Python lock.

They are found by their names in that module, once it is imported. Where its names cannot be asked for (Windows), or it
was built so that they are hidden, there are none, and the package is called as any other.
"""

from libc.stddef cimport size_t


cdef extern from *:
    """
    #ifdef _WIN32
    static void *absolve_symbol(const char *file, const char *name) { return NULL; }
    #else
    #include <dlfcn.h>
    static void *absolve_symbol(const char *file, const char *name)
    {
        void *module = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);  /* it is loaded: this finds it, and keeps it */
        return module ? dlsym(module, name) : NULL;
    }
    #endif
    """
    void* absolve_symbol(const char* file, const char* name)


cdef struct Library:
    void* (*machine)() noexcept nogil
    void (*let_go)(void* machine) noexcept nogil
    int (*gzip)(
        void* machine, const void* raw, size_t end, void* value, size_t size, size_t* read, size_t* made
    ) noexcept nogil


cdef inline bint load(Library* library, const char* file) noexcept:
    """Find the functions in the module of this file; whether they are there."""
    library.machine = <void* (*)() noexcept nogil>absolve_symbol(file, "libdeflate_alloc_decompressor")
    library.let_go = <void (*)(void*) noexcept nogil>absolve_symbol(file, "libdeflate_free_decompressor")
    library.gzip = <int (*)(void*, const void*, size_t, void*, size_t, size_t*, size_t*) noexcept nogil>(
        absolve_symbol(file, "libdeflate_gzip_decompress_ex")
    )
    return library.machine != NULL and library.let_go != NULL and library.gzip != NULL


cdef inline bint opens(
    Library* library, void* machine, const unsigned char* raw, size_t end, const unsigned char* value, size_t size
) noexcept nogil:
    """Whether these bytes are one member of gzip, and no less, in which so many bytes are, which are written then."""
    cdef size_t read = 0
    return library.gzip(machine, raw, end, <void*>value, size, &read, NULL) == 0 and read == end


cdef inline bint opens_here(
    Library* library, void* machine, const unsigned char* raw, size_t end, const unsigned char* value, size_t size
) noexcept:
    """The same for who holds Python's lock: it lets it go where this takes a while."""
    if size < 1 << 14:
        return opens(library, machine, raw, end, value, size)
    cdef bint found
    with nogil:
        found = opens(library, machine, raw, end, value, size)
    return found
