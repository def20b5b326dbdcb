-- fixed_findings, caused_urls, and the causes of pages and rules: findings of one origin have one cause.

CREATE OR REPLACE TABLE dead_rules AS -- the repair of what they lead to nothing, or in a circle, is theirs
    SELECT DISTINCT concat_ws(':', file, line) AS dead_rule FROM rules WHERE finding IN ('loop', 'leads to nothing');

CREATE OR REPLACE TABLE fixed_findings AS
WITH loud AS (
    SELECT f.*, x.fix, f.element || CASE WHEN f.attribute = '' THEN '' ELSE '[' || f.attribute || ']' END AS place,
        m.cause AS folder_cause, m.rule AS folder_rule
    FROM findings f
    LEFT JOIN forms t ON t.id = f.id
    LEFT JOIN fixes x ON x.reference = f.reference AND x.base = f.base AND x.final = f.final AND f.is_sure
        AND x.form IS NOT DISTINCT FROM t.form
    LEFT JOIN relocated r ON r.id = f.id AND r.cause = 'moved' LEFT JOIN folders m ON m.url = r.old_url
), stems AS (
    SELECT DISTINCT regexp_replace(url, '\.\w+$', '') AS stem FROM resources WHERE side = 'new' AND query IS NULL
), origins AS ( -- a page that is not there is one origin, whatever the fragments and elements
    SELECT l.*, CASE WHEN l.verdict = 'broken' THEN coalesce(m.folder, l.url) WHEN l.verdict = 'fragment' THEN l.target
        ELSE l.url END AS own,
        CASE WHEN l.element IN ('link', 'meta') THEN coalesce(nullif(l.rel, ''), l.kind) || ':' || site_of(l.url) END AS template,
        folder_of(split_part(l.url, '?', 1)) AS folder, n.suggestion AS near,
        regexp_extract(path_of(l.url), '\.\w+$') AS extension, k.stem IS NOT NULL AS has_namesake
    FROM loud l LEFT JOIN missing_folders m ON m.url = l.url AND l.verdict = 'broken' AND l.final IS NULL
    LEFT JOIN near_links n ON n.url = l.url AND l.verdict = 'broken' AND l.final IS NULL
    LEFT JOIN stems k ON k.stem = regexp_replace(split_part(l.url, '?', 1), '\.\w+$', '') AND l.verdict = 'broken'
), wide_origins AS ( -- a folder in other letter case, other extensions, a local host, the folder of a template's link
    SELECT *, CASE
        WHEN verdict = 'local' THEN nullif(regexp_extract(url, '^https?://[^/?#]*'), '') || '/'
        WHEN verdict = 'case' AND folder <> folder_of(split_part(final, '?', 1)) THEN folder
        WHEN verdict = 'broken' AND own = url AND has_namesake AND extension <> '' THEN folder || '*' || extension
        WHEN verdict IN ('leftover', 'insecure') AND template IS NULL
            AND count(*) OVER (PARTITION BY verdict, place, folder, document) = 1 THEN folder END AS wide
    FROM origins
), located_origins AS (
    SELECT * EXCLUDE (own),
        CASE WHEN wide IS NOT NULL AND min(url) OVER same <> max(url) OVER same THEN wide ELSE own END AS origin
    FROM wide_origins WINDOW same AS (PARTITION BY verdict, wide)
), counted AS (
    SELECT *, count(*) OVER (PARTITION BY verdict, place, reference) AS same_reference,
        count(*) OVER (PARTITION BY verdict, origin) AS same_origin,
        CASE WHEN template IS NOT NULL THEN count(*) OVER (PARTITION BY verdict, place, template) ELSE 0 END AS same_template,
        -- one in each page, such as og:url: several style sheets of a page are several causes
        template IS NOT NULL AND count(*) OVER (PARTITION BY verdict, place, template, document) = 1 AS is_alone
    FROM located_origins WHERE verdict NOT IN ('ok', 'same', 'external')
)
SELECT id, verdict, final, hops, fix, coalesce(near, suggestion) AS suggestion,
    CASE WHEN starts_with(url, origin) THEN folder_in(near, substr(url, length(origin) + 1)) END AS near_folder,
    CASE WHEN cause IN ('base', 'folder', 'folder-slash', 'folder-twice', 'not-found', 'colon', 'slashes', 'feed', 'include') OR regexp_matches(cause, '^(page|relative):') THEN cause
        WHEN folder_cause IS NOT NULL THEN folder_cause
        WHEN dead_rule IS NOT NULL AND verdict IN ('loop', 'broken') THEN 'rule:' || rule
        WHEN rule IS NOT NULL AND (verdict IN ('loop', 'chain', 'redirected', 'broken')
            OR verdict = 'fragment' AND NOT contains(target, '#')) THEN verdict || ':' || rule
        WHEN same_reference > same_origin OR target IS NULL THEN verdict || ':' || place || ':' || reference
        WHEN same_template > same_origin AND (verdict IN ('leftover', 'local', 'insecure') OR is_alone)
            THEN verdict || ':' || place || ':' || template
        ELSE verdict || ':' || origin END AS cause,
    CASE WHEN folder_rule IS NOT NULL THEN folder_rule ELSE rule END AS rule,
    document, entity, line, "column", reference, origin
FROM counted LEFT JOIN dead_rules ON dead_rule = rule
UNION ALL
SELECT id, verdict, final, hops, NULL, NULL, NULL, NULL, NULL, document, entity, line, "column", reference, origin
FROM located_origins WHERE verdict IN ('ok', 'same', 'external')
ORDER BY id; -- the same order with any number of threads

CREATE OR REPLACE TABLE caused_urls AS
SELECT j.*, CASE
    WHEN verdict = 'lost' AND is_ruled AND leads_home AND led_resource IS NOT NULL THEN 'all-to-home'
    WHEN verdict = 'lost' AND is_ruled AND dead_rule IS NOT NULL THEN 'rule:' || j.rule
    WHEN verdict = 'lost' AND is_ruled AND is_loop THEN 'loop:' || j.rule
    WHEN verdict = 'lost' AND is_ruled THEN 'rule-to-nothing:' || j.rule
    WHEN verdict = 'lost' THEN 'lost:' || folder_of(path_of(j.url))
    WHEN verdict = 'moved' THEN f.cause
    WHEN verdict = 'replaced' AND is_ruled THEN 'wrong-page:' || j.rule
    WHEN verdict = 'replaced' THEN 'replaced:' || path_of(j.url) END AS cause,
    f.rule AS folder_rule, f.own AS own_rule, n.suggestion AS near
FROM judged_urls j LEFT JOIN folders f ON f.url = j.moved_url LEFT JOIN near_urls n ON n.url = j.url
LEFT JOIN dead_rules ON dead_rule = j.rule;

UPDATE rules r SET cause = CASE
    WHEN problem IS NOT NULL THEN 'unread-rule'
    WHEN finding IN ('loop', 'leads to nothing') AND 'rule:' || concat_ws(':', file, line) IN (
        SELECT cause FROM fixed_findings WHERE cause IS NOT NULL UNION ALL SELECT cause FROM caused_urls WHERE cause IS NOT NULL)
        THEN 'rule:' || concat_ws(':', file, line)
    WHEN split_part(finding, ' ', 1) IN ('shadowed', 'contradicts') THEN 'wrong-rule:hidden by an earlier rule'
    ELSE 'wrong-rule:' || finding END
WHERE problem IS NOT NULL OR finding <> 'unused' AND finding NOT LIKE 'repeats %';

ALTER TABLE pages ADD COLUMN cause VARCHAR;
UPDATE pages SET cause = CASE verdict -- without URLs, which are others each time
    WHEN 'differs' THEN 'differs:' || replace(regexp_replace(detail, ';.*|(to) http.*', '\1'), 'leads to', 'leads elsewhere')
    ELSE verdict END;
