"""BoundedCache: entries are found until the cache is full; then it is emptied."""

from absolve.core.caching import BoundedCache


def test_a_bounded_cache_keeps_entries_until_it_is_full() -> None:
    cache: BoundedCache[str, int] = BoundedCache(3)
    entries = cache.entries
    assert [cache.put(key, number) for number, key in enumerate("abc")] == [0, 1, 2]
    assert entries == {"a": 0, "b": 1, "c": 2}
    assert cache.put("d", 3) == 3
    assert entries == {"d": 3}
    assert cache.entries is entries
