-- language_findings: what contradicts in the links of pages to other languages.

-- The languages of each page, and where their links lead (HTML 4.6.7.1; LANGUAGE=URL).
CREATE OR REPLACE TABLE alternates AS
WITH listed AS (
    SELECT p.resource, p.url, p.document, unnest(d.alternates) AS alternate
    FROM site_pages p JOIN new_documents d ON d.document = p.document AND d.entity = p.entity
    WHERE len(d.alternates) > 0
    UNION ALL -- in a sitemap, of a page that has none itself
    SELECT p.resource, p.url, s.document, s.alternate
    FROM sitemap_languages s JOIN led_targets t ON t.target = s.page JOIN site_pages p ON p.resource = t.resource
    JOIN new_documents d ON d.document = p.document AND d.entity = p.entity WHERE len(d.alternates) = 0
), parts AS (
    SELECT resource, url, document, lower(split_part(alternate, '=', 1)) AS language,
        substr(alternate, instr(alternate, '=') + 1) AS target
    FROM listed
)
SELECT DISTINCT a.*, t.resource AS led, coalesce(x.verdict, 'ok') AS verdict
FROM parts a LEFT JOIN led_targets t ON t.target = a.target LEFT JOIN exceptions x ON x.target = a.target;

INSERT INTO language_findings
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
