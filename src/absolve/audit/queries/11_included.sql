-- included: the pages of each fragment; wanted_bases: the base URLs that the relative links of a fragment have in them.

INSERT INTO included
WITH RECURSIVE direct AS (
    SELECT DISTINCT f.resource AS fragment, p.resource AS page FROM new_all_links l
    JOIN resources f ON f.side = 'new' AND f.url = bare(l.target)
    JOIN resources p ON p.side = 'new' AND p.document = l.document AND p.entity = l.entity AND p.resource <> f.resource
    WHERE l.element = 'include' AND l.attribute IN ('virtual', 'file')
), reached AS (
    SELECT fragment, page, 1 AS depth FROM direct
    UNION SELECT r.fragment, d.page, depth + 1 FROM reached r JOIN direct d ON d.fragment = r.page WHERE depth < 10 -- as of Apache
)
SELECT DISTINCT fragment, page FROM reached WHERE page NOT IN (SELECT fragment FROM direct);

CREATE OR REPLACE TABLE wanted_bases AS
WITH bases AS (
    SELECT i.fragment, d.base FROM included i JOIN resources p ON p.resource = i.page
    JOIN new_documents d ON d.document = p.document AND d.entity = p.entity
)
SELECT DISTINCT fragment, false AS is_own, regexp_extract(base, '^[^?#]*/') AS base FROM bases
UNION ALL SELECT fragment, true, min(base) FROM bases GROUP BY fragment;
