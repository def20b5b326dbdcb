-- The pages of the new site, which of them are linked to or closed, and by which links they name their own URL.

CREATE OR REPLACE TABLE site_pages AS
SELECT r.resource, n.url, r.document, r.entity, r.digest, r.size, r.canonical, r.url AS file_url
FROM resources r JOIN named n ON n.resource = r.resource
JOIN scopes s ON s.side = 'new' AND s.site = r.site AND starts_with(r.path, s.prefix)
WHERE r.side = 'new' AND r.is_page AND r.media_type IS NOT NULL
-- nor the results of Doxygen's search, which its script shows in a frame
AND NOT (regexp_matches(r.path, '/search/([a-z]+_[0-9a-f]+|nomatches)\.html$') AND coalesce(r.title, '') = '')
AND r.resource NOT IN (SELECT resource FROM stubs) AND r.resource NOT IN (SELECT fragment FROM included);

-- Where each target leads in the end.
CREATE OR REPLACE TABLE led_targets AS
SELECT a.target, a.url, coalesce(d.resource, l.resource, l.variant_resource) AS resource,
    a.first_document, a.last_document
FROM asked a JOIN located l ON l.side = 'new' AND l.url = a.url LEFT JOIN led d ON d.url = a.url;

CREATE OR REPLACE TABLE linked AS
SELECT DISTINCT t.resource FROM led_targets t JOIN resources r ON r.resource = t.resource
WHERE t.first_document <> hash(r.document) OR t.last_document <> hash(r.document) OR r.entity <> ''
UNION SELECT n.resource FROM findings f JOIN named n ON n.url = bare(f.final) WHERE f.is_sure; -- where a link leads once it is repaired

-- Pages that search engines may not index now, though they could index the old page. The home page needs no old page.
CREATE OR REPLACE TABLE shut AS
WITH shut_pages AS (
    SELECT p.resource, p.url, p.document, c.reason, h.resource IS NOT NULL AS is_home
    FROM site_pages p JOIN closed c ON c.side = 'new' AND c.resource = p.resource LEFT JOIN home h ON h.resource = p.resource
), before AS ( -- whether the old pages that a page has come from were closed
    SELECT h.new_resource AS resource, bool_and(c.resource IS NOT NULL) AS was_closed
    FROM homes h LEFT JOIN closed c ON c.side = 'old' AND c.resource = h.resource
    WHERE h.new_resource IS NOT NULL GROUP BY h.new_resource
), whole AS (SELECT (SELECT count(*) FROM shut_pages) = (SELECT count(*) FROM site_pages) AS is_whole)
SELECT s.*, is_whole FROM shut_pages s LEFT JOIN before b ON b.resource = s.resource, whole
WHERE NOT coalesce(b.was_closed, NOT (s.is_home OR is_whole))
QUALIFY NOT is_whole OR row_number() OVER (ORDER BY s.is_home DESC, length(s.url), s.url) = 1;

-- URLs of other sites.
CREATE OR REPLACE MACRO is_away(url) AS site_of(url) <> '' AND site_of(url) NOT IN (SELECT site FROM scopes);

-- Links by which a page names its own URL.
CREATE OR REPLACE TABLE claims AS
SELECT p.resource, p.url, p.document, l.rel, l.reference, l.target, l.line, coalesce(f.verdict, 'ok') AS verdict,
    f.final, t.resource AS led, l.element, l.start
FROM (
    SELECT * FROM links_in WHERE element IN ('link', 'header') AND regexp_matches(lower(rel), '(^| )canonical( |$)')
) l JOIN site_pages p ON l.document = p.document AND answer_of(l.entity) = answer_of(p.entity)
LEFT JOIN findings f ON f.id = l.id LEFT JOIN led_targets t ON t.target = l.target;

CREATE OR REPLACE TABLE canonicals AS
SELECT *, count(DISTINCT coalesce(led::VARCHAR, target, reference)) OVER (PARTITION BY resource) AS claimed
FROM claims
QUALIFY row_number() OVER (PARTITION BY resource, coalesce(target, reference) ORDER BY start) = 1;

-- Pages whose og:url leads elsewhere than their canonical link, and is no finding of its own.
CREATE OR REPLACE TABLE contradictions AS
SELECT c.resource, min(o.target) AS target FROM canonicals c JOIN metas o ON o.resource = c.resource AND o.name = 'og:url'
LEFT JOIN led_targets t ON t.target = o.target
WHERE c.claimed = 1 AND coalesce(t.resource::VARCHAR, bare(o.target)) <> coalesce(c.led::VARCHAR, bare(c.target))
AND o.id NOT IN (SELECT id FROM findings WHERE verdict NOT IN ('ok', 'external', 'divergent'))
GROUP BY c.resource;
