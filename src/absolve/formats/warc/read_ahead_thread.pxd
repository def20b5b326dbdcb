"""A thread that opens members of gzip while another one works on those before: nothing in it belongs to Python.

It never has Python's lock and calls nothing that wants it, so that it goes on whatever the other one does; and it never
makes the other one wait but for the member that it is at. Members are taken from a list, each by one of the two; who
waits for one opens others.
"""

from cpython.pythread cimport (
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
    PyThread_type_lock,
)
from libc.stddef cimport size_t
from libc.stdlib cimport calloc, free

from absolve.formats.warc.libdeflate cimport Library, opens, opens_here


cdef extern from *:
    """
    #ifdef _WIN32
    static void absolve_no_signals(void) {}
    #else
    #include <signal.h>
    static void absolve_no_signals(void)  /* they are the others', who may wait for one */
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    }
    #endif
    #define ABSOLVE_NO_THREAD PYTHREAD_INVALID_THREAD_ID
    """
    void absolve_no_signals() noexcept nogil
    unsigned long ABSOLVE_NO_THREAD
    unsigned long PyThread_start_new_thread(void (*function)(void*) noexcept nogil, void* argument)


cdef enum:
    MOST = 1024  # members that are in the list at most
    PATIENCE = 200  # looks at one that is being opened, some 10 microseconds


cdef enum State:
    FREE
    TAKEN
    OPENED
    BROKEN  # or something else than one member


cdef struct Member:
    Py_ssize_t offset  # in the file
    const unsigned char* raw
    size_t end
    const unsigned char* value
    size_t size
    State state


cdef struct Thread:
    Library library
    void* machine
    PyThread_type_lock list  # held by who reads or changes what follows
    Member members[MOST]
    int count
    int at  # all before are taken
    bint busy  # it is at a member
    bint awaited  # and `done` is to be let go behind that
    bint idle  # it waits for `work`
    bint ends
    PyThread_type_lock work
    PyThread_type_lock done
    PyThread_type_lock ended  # let go when the thread touches nothing any more


# --- the thread -------------------------------------------------------------------------------------------------------


cdef inline Member* free_one(Thread* thread) noexcept nogil:
    """A member that is free, which is taken then; NULL for none. `list` is held."""
    while thread.at < thread.count and thread.members[thread.at].state != FREE:
        thread.at += 1
    if thread.at >= thread.count:
        return NULL
    thread.members[thread.at].state = TAKEN
    return &thread.members[thread.at]


cdef inline Member* next_one(Thread* thread) noexcept nogil:
    """The same for the thread, which waits until there is one; NULL: there will be none."""
    cdef Member* found = NULL
    PyThread_acquire_lock(thread.list, 1)
    while not thread.ends:
        found = free_one(thread)
        if found != NULL:
            thread.busy = True
            break
        thread.idle = True
        PyThread_release_lock(thread.list)
        PyThread_acquire_lock(thread.work, 1)
        PyThread_acquire_lock(thread.list, 1)
    PyThread_release_lock(thread.list)
    return found


cdef inline void tell(Thread* thread, Member* member, bint is_opened) noexcept nogil:
    PyThread_acquire_lock(thread.list, 1)
    member.state = OPENED if is_opened else BROKEN
    thread.busy = False
    if thread.awaited:
        thread.awaited = False
        PyThread_release_lock(thread.done)
    PyThread_release_lock(thread.list)


cdef inline void run(void* argument) noexcept nogil:
    cdef Thread* thread = <Thread*>argument
    cdef Member* member
    cdef bint is_opened
    absolve_no_signals()
    while True:
        member = next_one(thread)
        if member == NULL:
            break
        is_opened = opens(&thread.library, thread.machine, member.raw, member.end, member.value, member.size)
        tell(thread, member, is_opened)
    PyThread_release_lock(thread.ended)


# --- who has it -------------------------------------------------------------------------------------------------------


cdef inline Thread* started(Library* library) noexcept:
    """A thread that has nothing to do yet; NULL where none can be had."""
    cdef Thread* thread = <Thread*>calloc(1, sizeof(Thread))
    if thread == NULL:
        return NULL
    thread.library = library[0]
    thread.machine = library.machine()
    thread.list = PyThread_allocate_lock()
    thread.work = PyThread_allocate_lock()
    thread.done = PyThread_allocate_lock()
    thread.ended = PyThread_allocate_lock()
    if thread.machine and thread.list and thread.work and thread.done and thread.ended:
        PyThread_acquire_lock(thread.work, 1)
        PyThread_acquire_lock(thread.done, 1)
        PyThread_acquire_lock(thread.ended, 1)
        if PyThread_start_new_thread(run, thread) != ABSOLVE_NO_THREAD:
            return thread
    let_go(thread)
    return NULL


cdef inline void let_go(Thread* thread) noexcept:
    if thread.list:
        PyThread_free_lock(thread.list)
    if thread.work:
        PyThread_free_lock(thread.work)
    if thread.done:
        PyThread_free_lock(thread.done)
    if thread.ended:
        PyThread_free_lock(thread.ended)
    if thread.machine:
        thread.library.let_go(thread.machine)
    free(thread)


cdef inline void put(
    Thread* thread,
    int number,
    Py_ssize_t offset,
    const unsigned char* raw,
    size_t end,
    const unsigned char* value,
    size_t size,
) noexcept:
    """Put a member into the list, where it has been emptied and the thread does not go yet."""
    cdef Member* member = &thread.members[number]
    member.offset = offset
    member.raw = raw
    member.end = end
    member.value = value
    member.size = size
    member.state = FREE


cdef inline void go(Thread* thread, int count) noexcept:
    """Let it begin with so many members, which are in the list, when it has been emptied before."""
    PyThread_acquire_lock(thread.list, 1)
    thread.count = count
    thread.at = 0
    wake(thread)
    PyThread_release_lock(thread.list)


cdef inline void wake(Thread* thread) noexcept:
    if thread.idle:
        thread.idle = False
        PyThread_release_lock(thread.work)


cdef inline State taken(Thread* thread, int number) noexcept:
    """What has become of a member; where it was free, it is not the thread's any more. TAKEN: the thread is at it."""
    cdef Member* member = &thread.members[number]
    cdef int patience = PATIENCE
    PyThread_acquire_lock(thread.list, 1)
    cdef State state = member.state
    if state == FREE:
        member.state = TAKEN
    while state == TAKEN and patience:
        PyThread_release_lock(thread.list)
        patience -= 1
        PyThread_acquire_lock(thread.list, 1)
        state = member.state
    PyThread_release_lock(thread.list)
    return state


cdef inline State helped(Thread* thread, int number, void* machine) noexcept:
    """What has become of a member that the thread is at, when it is through; meanwhile others are opened here."""
    cdef State state
    cdef Member* other
    PyThread_acquire_lock(thread.list, 1)
    while thread.members[number].state == TAKEN:
        other = free_one(thread)
        if other == NULL:
            wait(thread)
            break
        PyThread_release_lock(thread.list)
        state = OPENED if opens_here(
            &thread.library, machine, other.raw, other.end, other.value, other.size
        ) else BROKEN
        PyThread_acquire_lock(thread.list, 1)
        other.state = state
    state = thread.members[number].state
    PyThread_release_lock(thread.list)
    return state


cdef inline void wait(Thread* thread) noexcept:
    """Until the thread is through with the member that it is at; `list` is held, and let go meanwhile."""
    if thread.busy:
        thread.awaited = True
        PyThread_release_lock(thread.list)
        with nogil:
            PyThread_acquire_lock(thread.done, 1)
        PyThread_acquire_lock(thread.list, 1)


cdef inline void empty(Thread* thread) noexcept:
    """Nothing is left in the list, and the thread at nothing that was."""
    PyThread_acquire_lock(thread.list, 1)
    thread.count = 0
    wait(thread)
    PyThread_release_lock(thread.list)


cdef inline void end(Thread* thread) noexcept:
    """The thread ends, and is let go when it has."""
    PyThread_acquire_lock(thread.list, 1)
    thread.ends = True
    wake(thread)
    PyThread_release_lock(thread.list)
    with nogil:
        PyThread_acquire_lock(thread.ended, 1)
    let_go(thread)
