-- caused_findings, caused_urls: findings of one origin have one cause.

CREATE OR REPLACE TABLE fixed_findings AS
WITH loud AS (
    SELECT f.*, x.fix, f.element || CASE WHEN f.attribute = '' THEN '' ELSE '[' || f.attribute || ']' END AS place
    FROM findings f LEFT JOIN fixes x
        ON x.reference = f.reference AND x.base = f.base AND x.final = f.final AND f.is_sure
), counted AS (
    SELECT *, count(*) OVER (PARTITION BY verdict, place, reference) AS same_reference,
        count(*) OVER (PARTITION BY verdict, place, target) AS same_target
    FROM loud WHERE verdict NOT IN ('ok', 'same', 'external')
)
SELECT id, verdict, final, hops, fix, suggestion,
    CASE WHEN cause = 'base' THEN 'base'
        WHEN rule IS NOT NULL AND verdict IN ('loop', 'chain', 'redirected', 'broken') THEN verdict || ':' || rule
        WHEN same_reference > same_target OR target IS NULL THEN verdict || ':' || place || ':' || reference
        ELSE verdict || ':' || place || ':' || target END AS cause,
    document, line, "column", reference
FROM counted
UNION ALL
SELECT id, verdict, final, hops, NULL, NULL, NULL, document, line, "column", reference
FROM loud WHERE verdict IN ('ok', 'same', 'external');

CREATE OR REPLACE TABLE caused_urls AS
SELECT *, CASE
    WHEN verdict = 'lost' AND is_ruled AND is_loop THEN 'loop:' || rule
    WHEN verdict = 'lost' AND is_ruled AND leads_home AND led_resource IS NOT NULL THEN 'all-to-home'
    WHEN verdict = 'lost' AND is_ruled THEN 'rule-to-nothing:' || rule
    WHEN verdict = 'lost' THEN 'lost:' || folder_of(path_of(url))
    WHEN verdict = 'moved' THEN 'moved:' || folder_of(path_of(url)) || ' -> ' || folder_of(path_of(elsewhere))
    WHEN verdict = 'replaced' THEN 'replaced:' || path_of(url) END AS cause
FROM judged_urls;
