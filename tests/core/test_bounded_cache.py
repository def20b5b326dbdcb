"""BoundedCache: entries are found until the cache is full; then it begins again."""

from __future__ import annotations

from absolve.core.bounded_cache import BoundedCache


def test_entries_are_found_until_one_more_than_fits_is_added() -> None:
    cache: BoundedCache[str, int] = BoundedCache(3)
    entries = cache.entries
    assert [cache.put(key, number) for number, key in enumerate("abc")] == [0, 1, 2]
    assert entries == {"a": 0, "b": 1, "c": 2}
    assert cache.put("d", 3) == 3
    assert entries == {"d": 3}
    assert cache.entries is entries


def test_it_never_has_more_entries_than_it_may() -> None:
    cache: BoundedCache[int, int] = BoundedCache(7)
    for number in range(100):
        cache.put(number, -number)
        assert len(cache.entries) <= 7
        assert cache.entries[number] == -number
