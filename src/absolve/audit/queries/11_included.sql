-- included: the pages of each fragment; wanted_bases: the base URLs that its relative links have in them. A base element in a
-- fragment is the base of its pages, too.

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
WITH headed AS (
    SELECT i.page, min(l.target) AS base FROM included i JOIN resources f ON f.resource = i.fragment
    JOIN new_all_links l USING (document, entity) WHERE l.element = 'base' AND l.attribute = 'href' GROUP BY i.page
), bases AS (
    SELECT i.fragment, coalesce(h.base, d.base) AS base FROM included i LEFT JOIN headed h USING (page)
    JOIN resources p ON p.resource = i.page JOIN new_documents d ON d.document = p.document AND d.entity = p.entity
    UNION ALL SELECT page, base FROM headed
)
FROM (SELECT DISTINCT fragment, false AS is_own, regexp_extract(base, '^[^?#]*/') AS base FROM bases)
QUALIFY row_number() OVER (PARTITION BY fragment ORDER BY length(base), base) <= 200 -- folders: the topmost ones
UNION ALL SELECT fragment, true, min(base) FROM bases GROUP BY fragment;
