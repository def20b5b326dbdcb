-- pages: pages of the new site that nothing links to, and those whose canonical, alternates, sitemaps contradict.

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
ANTI JOIN in_menus m ON m.url = p.file_url
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
WHERE c.claimed > 1 OR c.verdict NOT IN ('ok', 'same', 'external', 'divergent', 'fragment', 'relative')
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
            WHEN x.resource IS NOT NULL THEN 'noindex' WHEN c.resource IS NOT NULL THEN 'canonical'
            WHEN contains(path_of(l.target), '//') AND NOT contains(path_of(n.url), '//') THEN 'slashes' ELSE 'ok' END AS verdict,
        coalesce(f.final, x.reason, c.target, n.url) AS final
    FROM links_in l LEFT JOIN findings f ON f.id = l.id
    LEFT JOIN led_targets t ON t.target = l.target LEFT JOIN named n ON n.resource = t.resource AND f.id IS NULL
    LEFT JOIN canonicals c ON c.resource = t.resource AND c.led <> c.resource AND c.claimed = 1
    LEFT JOIN closed x ON x.side = 'new' AND x.resource = t.resource
    WHERE l.element = 'loc' AND l.attribute = ''
) WHERE verdict NOT IN ('ok', 'same', 'external', 'relative')
UNION ALL
SELECT min(p.url), arg_min(p.document, p.url), 'sitemap',
    'no sitemap lists it' || CASE count(*) WHEN 1 THEN '' WHEN 2 THEN ', nor another page'
        ELSE ', nor ' || (count(*) - 1) || ' other pages' END
FROM site_pages p
ANTI JOIN (SELECT t.resource FROM links_in l JOIN led_targets t ON t.target = l.target
    WHERE l.element = 'loc' AND l.attribute = ''
    UNION SELECT n.resource FROM findings f JOIN named n ON n.url = bare(f.final) WHERE f.element = 'loc' AND f.is_sure -- once it is repaired
) s ON s.resource = p.resource
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
