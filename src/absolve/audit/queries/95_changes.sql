-- changes: what is different on the pages that stayed, or that moved with their content.

CREATE OR REPLACE TABLE links_to AS
SELECT 'new' AS side, t.resource, sum(a.links)::BIGINT AS links
FROM led_targets t JOIN asked a ON a.target = t.target WHERE t.resource IS NOT NULL GROUP BY t.resource
UNION ALL
SELECT 'old', o.resource, count(*)
FROM old_all_links l JOIN (SELECT url, resource FROM old_urls UNION SELECT file_url, resource FROM old_urls) o
    ON o.url = bare(l.target)
GROUP BY o.resource;

INSERT INTO changes
WITH pairs AS (
    SELECT u.url, n.url AS final, u.resource AS old_resource, h.new_resource, f.score
    FROM judged_urls u JOIN homes h ON h.url = u.url AND h.new_resource IS NOT NULL
    JOIN named n ON n.resource = h.new_resource LEFT JOIN urls f ON f.url = u.url
    WHERE u.is_page AND u.verdict IN ('kept', 'mapped', 'moved')
), facts AS (
    SELECT p.*, od.title AS old_title, nd.title AS new_title, od.lang AS old_lang, nd.lang AS new_lang,
        od.robots AS old_robots, nd.robots AS new_robots, oh.h1 AS old_h1, nh.h1 AS new_h1,
        oh.resource IS NOT NULL AND nh.resource IS NOT NULL AS are_read,
        CASE WHEN od.canonical IN (p.url, od.url) THEN 'itself' ELSE od.canonical END AS old_canonical,
        CASE WHEN nd.canonical IN (p.final, nd.url) THEN 'itself' ELSE nd.canonical END AS new_canonical,
        coalesce(ol.links, 0) AS old_links, coalesce(nl.links, 0) AS new_links
    FROM pairs p
    JOIN resources o ON o.resource = p.old_resource AND o.digest IS NOT NULL -- a list of URLs has no pages
    JOIN old_documents od ON od.document = o.document AND od.entity = o.entity
    JOIN resources n ON n.resource = p.new_resource AND n.digest IS NOT NULL
    JOIN new_documents nd ON nd.document = n.document AND nd.entity = n.entity
    LEFT JOIN headings oh ON oh.resource = p.old_resource
    LEFT JOIN headings nh ON nh.resource = p.new_resource
    LEFT JOIN links_to ol ON ol.side = 'old' AND ol.resource = p.old_resource
    LEFT JOIN links_to nl ON nl.side = 'new' AND nl.resource = p.new_resource
), all_of_them AS (
    SELECT url, final, 'title' AS what, old_title AS old, new_title AS new FROM facts
    UNION ALL SELECT url, final, 'h1', old_h1, new_h1 FROM facts WHERE are_read
    UNION ALL SELECT url, final, 'lang', old_lang, new_lang FROM facts
    UNION ALL SELECT url, final, 'robots', old_robots, new_robots FROM facts
    UNION ALL SELECT url, final, 'canonical', old_canonical, new_canonical FROM facts
    UNION ALL SELECT url, final, 'text in common', '100 %', round(100 * score)::INTEGER || ' %' FROM facts WHERE score < 1
    UNION ALL SELECT url, final, 'links to it', old_links::VARCHAR, new_links::VARCHAR FROM facts
    WHERE new_links < old_links / 2
)
SELECT * FROM all_of_them WHERE old IS DISTINCT FROM new ORDER BY url, what;
