-- relocated: broken links that lack the folder of the site or have it twice, whose reference was right in the old site, or whose
-- target has moved: its new place.

CREATE OR REPLACE TABLE old_references AS -- the same reference in the document that this one was
WITH asked AS MATERIALIZED ( -- before any link is joined: by its reference alone a link has namesakes in all documents
    SELECT f.id, f.url, f.reference, f.element, f.attribute, p.document, p.entity, h.url AS home
    FROM findings f
    JOIN resources r ON r.side = 'new' AND r.document = f.document AND r.entity = f.entity
    JOIN homes h ON h.new_resource = r.resource
    JOIN resources p ON p.resource = h.resource
    WHERE f.verdict = 'broken'
), once AS MATERIALIZED ( -- a document may have the same reference very often
    SELECT document, entity, reference, element, attribute, arg_min(l.target, l.start) AS target
    FROM old_all_links l SEMI JOIN asked USING (document, entity, reference, element, attribute)
    WHERE bare(l.target) IN (SELECT k.url FROM located k WHERE k.side = 'old' AND k.resource IS NOT NULL)
    GROUP BY ALL
)
SELECT a.id, a.url, o.new_url, fragment_of(l.target) AS fragment, h2.final, h2.new_resource, o.url AS old_url
FROM asked a JOIN once l USING (document, entity, reference, element, attribute)
JOIN located k ON k.side = 'old' AND k.url = bare(l.target)
JOIN old_urls o ON o.resource = k.resource
JOIN homes h2 ON h2.url = o.url AND h2.new_resource IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY a.id ORDER BY a.home) = 1;

INSERT INTO relocated
WITH in_folder AS (
    SELECT f.id, with_fragment(k.there, fragment_of(f.target)) AS final, coalesce(k.resource, k.variant_resource) AS new_resource,
        y.cause
    FROM findings f JOIN strays y ON y.url = f.url JOIN located k ON k.side = 'new' AND k.url = y.inner_url
    WHERE f.verdict = 'broken' AND f.is_stray AND k.there IS NOT NULL
), by_path AS (
    SELECT f.id, h.final, h.new_resource, h.url AS old_url, fragment_of(f.target) AS fragment
    FROM findings f JOIN olds o ON o.url = f.url JOIN homes h ON h.url = o.old_url AND h.new_resource IS NOT NULL
    WHERE f.verdict = 'broken' AND f.final IS NULL AND h.verdict IN ('moved', 'mapped')
    AND NOT EXISTS (SELECT 1 FROM led d WHERE d.url = f.url AND NOT d.is_old) -- else a rule has moved the link itself
)
SELECT id, final, new_resource, cause, NULL::VARCHAR AS old_url FROM in_folder
UNION ALL
SELECT id, with_fragment(final, fragment), new_resource, 'base', old_url
FROM old_references ANTI JOIN in_folder USING (id) WHERE url <> new_url
UNION ALL
SELECT b.id, with_fragment(b.final, b.fragment), b.new_resource, 'moved', b.old_url
FROM by_path b ANTI JOIN (SELECT id FROM old_references WHERE url <> new_url) r ON r.id = b.id;

CREATE OR REPLACE TABLE wanted_places AS
    SELECT new_resource AS resource, fragment_of(final) AS fragment FROM relocated WHERE contains(final, '#');
