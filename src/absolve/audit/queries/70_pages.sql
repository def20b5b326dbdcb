-- pages: pages of the new site that nothing links to, and those whose canonical, alternates, sitemaps contradict.

CREATE OR REPLACE TABLE site_pages AS
SELECT r.resource, n.url, r.document, r.entity, r.digest, r.size, r.canonical, r.url AS file_url
FROM resources r JOIN named n ON n.resource = r.resource
JOIN scopes s ON s.side = 'new' AND s.site = r.site AND starts_with(r.path, s.prefix)
WHERE r.side = 'new' AND r.is_page AND r.media_type IS NOT NULL
AND r.resource NOT IN (SELECT resource FROM stubs);

-- Where each target leads in the end.
CREATE OR REPLACE TABLE led_targets AS
SELECT a.target, a.url, coalesce(d.resource, l.resource, l.variant_resource) AS resource,
    a.first_document, a.last_document
FROM asked a JOIN located l ON l.side = 'new' AND l.url = a.url LEFT JOIN led d ON d.url = a.url;

CREATE OR REPLACE TABLE linked AS
SELECT DISTINCT t.resource FROM led_targets t JOIN resources r ON r.resource = t.resource
WHERE t.first_document <> hash(r.document) OR t.last_document <> hash(r.document) OR r.entity <> '';

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
SELECT c.resource, min(o.target) AS target FROM canonicals c JOIN og_urls o ON o.resource = c.resource
LEFT JOIN led_targets t ON t.target = o.target
WHERE c.claimed = 1 AND coalesce(t.resource::VARCHAR, bare(o.target)) <> coalesce(c.led::VARCHAR, bare(c.target))
AND o.id NOT IN (SELECT id FROM findings WHERE verdict NOT IN ('ok', 'external', 'divergent'))
GROUP BY c.resource;

-- The languages of each page, and where their links lead (HTML 4.6.7.1; LANGUAGE=URL).
CREATE OR REPLACE TABLE alternates AS
WITH listed AS (
    SELECT p.resource, p.url, p.document, unnest(d.alternates) AS alternate
    FROM site_pages p JOIN new_documents d ON d.document = p.document AND d.entity = p.entity
    WHERE len(d.alternates) > 0
), parts AS (
    SELECT resource, url, document, lower(split_part(alternate, '=', 1)) AS language,
        substr(alternate, instr(alternate, '=') + 1) AS target
    FROM listed
)
SELECT DISTINCT a.*, t.resource AS led, coalesce(x.verdict, 'ok') AS verdict
FROM parts a LEFT JOIN led_targets t ON t.target = a.target LEFT JOIN exceptions x ON x.target = a.target;

CREATE OR REPLACE TABLE language_findings AS
SELECT url, document, CASE verdict
    WHEN 'leftover' THEN 'its link for ' || language || ' names the old site: ' || target
    WHEN 'broken' THEN 'its link for ' || language || ' leads nowhere: ' || target
    WHEN 'local' THEN 'its link for ' || language || ' leads to the machine that the site was made on: ' || target
    WHEN 'external' THEN NULL
    ELSE 'its link for ' || language || ' is redirected or spelled otherwise (' || verdict || '): ' || target END AS detail
FROM alternates WHERE verdict NOT IN ('ok', 'external', 'fragment')
UNION ALL
SELECT url, document, 'no code of a language: ' || language || ' (BCP 47)' FROM alternates WHERE NOT is_language(language)
UNION ALL
SELECT any_value(a.url), any_value(a.document), 'its links for other languages lack the one to itself' FROM alternates a
WHERE a.resource NOT IN (SELECT resource FROM canonicals WHERE led <> resource)
GROUP BY a.resource HAVING NOT bool_or(a.led = a.resource)
UNION ALL
SELECT p.url, p.document, 'no return link to ' || a.url || ', which names it for ' || a.language
FROM alternates a JOIN site_pages p ON p.resource = a.led
WHERE a.led <> a.resource AND NOT EXISTS (SELECT 1 FROM alternates b WHERE b.resource = a.led AND b.led = a.resource)
UNION ALL
SELECT a.url, a.document, 'its link for ' || a.language || ' leads to a page that search engines may not index: ' || a.target
FROM alternates a JOIN closed x ON x.side = 'new' AND x.resource = a.led WHERE a.led <> a.resource
UNION ALL
SELECT url, document, 'two pages for one language, ' || language || ': ' || min(target) || ' and ' || max(target)
FROM alternates GROUP BY resource, url, document, language HAVING count(DISTINCT coalesce(led::VARCHAR, target)) > 1;

CREATE OR REPLACE TABLE pages AS
SELECT url, document, 'noindex' AS verdict, CASE
    WHEN is_whole THEN 'search engines may index no page of the site: '
    WHEN is_home THEN 'search engines may not index the home page: '
    ELSE 'search engines may not index it, and could index the old page: ' END || reason AS detail FROM shut
UNION ALL
SELECT p.url, p.document, 'orphan' AS verdict, 'no page links to it, and no sitemap lists it' AS detail
FROM site_pages p
ANTI JOIN linked k ON k.resource = p.resource
ANTI JOIN home h ON h.resource = p.resource
ANTI JOIN by_name g ON g.document = p.document AND p.entity = '' -- the pages around it were not given
WHERE NOT is_error_page(p.url)
UNION ALL
SELECT c.url, c.document, 'canonical', CASE
    WHEN c.claimed > 1 THEN 'two canonical links that differ: ' || coalesce(c.target, c.reference)
    WHEN c.verdict = 'leftover' THEN 'its canonical link names the old site: ' || c.target
    WHEN c.verdict = 'broken' THEN 'its canonical link leads nowhere: ' || c.target
    WHEN c.verdict = 'local' THEN 'its canonical link leads to the machine that the site was made on: ' || c.target
    WHEN c.verdict IN ('loop', 'chain', 'redirected') THEN 'its canonical link is redirected: ' || c.target
    WHEN c.verdict IN ('case', 'slash', 'encoding', 'insecure', 'mixed')
        THEN 'its canonical link is spelled otherwise (' || c.verdict || '): ' || c.target
    WHEN is_away(c.target) THEN 'its canonical link leads to another site, and that of the old page did not: ' || c.target
    WHEN c.verdict IN ('malformed', 'unresolved', 'placeholder') THEN 'its canonical link is no URL: ' || c.reference
    WHEN x.resource IS NOT NULL THEN 'its canonical link leads to a page that search engines may not index: ' || c.target
    WHEN g.resource IS NOT NULL THEN 'its og:url is another URL than its canonical link: ' || g.target
    ELSE 'a chain of canonical links: ' || c.target || ' has another one: ' || o.target END
FROM canonicals c LEFT JOIN canonicals o ON o.resource = c.led AND c.led <> c.resource AND o.led <> o.resource
LEFT JOIN closed x ON x.side = 'new' AND x.resource = c.led AND c.led <> c.resource
LEFT JOIN contradictions g ON g.resource = c.resource
WHERE c.claimed > 1 OR c.verdict NOT IN ('ok', 'same', 'external', 'divergent', 'fragment')
    OR o.resource IS NOT NULL OR x.resource IS NOT NULL OR g.resource IS NOT NULL
    OR is_away(c.target) AND c.resource IN (SELECT h.new_resource FROM homes h JOIN resources r ON r.resource = h.resource
        WHERE r.canonical IS NULL OR site_of(r.canonical) IN (SELECT site FROM scopes))
QUALIFY row_number() OVER (PARTITION BY c.resource ORDER BY c.start) = 1
UNION ALL
SELECT url, document, 'hreflang', min(detail) FROM language_findings GROUP BY url, document
UNION ALL
SELECT url, document, 'sitemap', CASE verdict
    WHEN 'leftover' THEN 'the sitemap lists a URL of the old site'
    WHEN 'broken' THEN 'the sitemap lists a URL that is not there'
    WHEN 'local' THEN 'the sitemap lists a URL of the machine that the site was made on'
    WHEN 'loop' THEN 'the sitemap lists a URL that is redirected in a circle'
    WHEN 'chain' THEN 'the sitemap lists a URL that is redirected to ' || coalesce(final, 'nothing')
    WHEN 'redirected' THEN 'the sitemap lists a URL that is redirected to ' || coalesce(final, 'nothing')
    WHEN 'canonical' THEN 'the sitemap lists a page whose canonical URL is ' || final
    WHEN 'noindex' THEN 'the sitemap lists a page that search engines may not index: ' || final
    ELSE 'the sitemap lists a URL that is spelled otherwise (' || verdict || '): ' || coalesce(final, reference) END
FROM (
    SELECT coalesce(l.target, l.reference) AS url, l.document, l.reference,
        CASE WHEN coalesce(f.verdict, 'ok') NOT IN ('ok', 'same') THEN f.verdict
            WHEN x.resource IS NOT NULL THEN 'noindex' WHEN c.resource IS NOT NULL THEN 'canonical' ELSE 'ok' END AS verdict,
        coalesce(f.final, x.reason, c.target) AS final
    FROM links_in l LEFT JOIN findings f ON f.id = l.id
    LEFT JOIN led_targets t ON t.target = l.target
    LEFT JOIN canonicals c ON c.resource = t.resource AND c.led <> c.resource AND c.claimed = 1
    LEFT JOIN closed x ON x.side = 'new' AND x.resource = t.resource
    WHERE l.element = 'loc' AND l.attribute = ''
) WHERE verdict NOT IN ('ok', 'same', 'external')
UNION ALL
SELECT min(p.url), arg_min(p.document, p.url), 'sitemap',
    'no sitemap lists it' || CASE count(*) WHEN 1 THEN '' WHEN 2 THEN ', nor another page'
        ELSE ', nor ' || (count(*) - 1) || ' other pages' END
FROM site_pages p
ANTI JOIN (SELECT t.resource FROM links_in l JOIN led_targets t ON t.target = l.target
    WHERE l.element = 'loc' AND l.attribute = '') s ON s.resource = p.resource
ANTI JOIN closed x ON x.side = 'new' AND x.resource = p.resource -- of other files it has no resource
ANTI JOIN (SELECT resource FROM canonicals WHERE led IS DISTINCT FROM resource) c ON c.resource = p.resource
-- not in HAVING: DuckDB 2.0.1 loses the row of a site with many pages there
WHERE NOT is_error_page(p.url) AND (SELECT count(*) FROM links_in WHERE element = 'loc' AND attribute = '') > 0
HAVING count(*) > 0
UNION ALL
SELECT d.url, d.document, 'duplicate', 'the same content as ' || d.first_url || ', and no canonical link'
FROM (
    SELECT p.*, first_value(p.url) OVER (PARTITION BY p.digest ORDER BY length(p.url), p.url) AS first_url
    FROM site_pages p SEMI JOIN (SELECT digest FROM site_pages WHERE size > 0 GROUP BY digest HAVING count(*) > 1) c
        ON c.digest = p.digest
) d WHERE d.url <> d.first_url
AND d.resource NOT IN (SELECT resource FROM canonicals)
ORDER BY verdict, url, document, detail; -- the same order with any number of threads
