-- old_urls: what each URL of the old site was. matches: where its content is now. urls: its verdict.

CREATE OR REPLACE TABLE found_by_digest AS
WITH files AS (
    SELECT r.side, r.resource, r.digest, regexp_extract(r.path, '[^/]*$') AS name, n.url
    FROM resources r JOIN named n ON n.resource = r.resource WHERE r.size > 0
), shortest AS ( -- not all pairs: very many files may be equal
    SELECT digest, arg_min(resource, (length(url), url)) AS resource FROM files WHERE side = 'new' GROUP BY digest
), namesakes AS (
    SELECT digest, name, arg_min(resource, (length(url), url)) AS resource FROM files WHERE side = 'new'
    GROUP BY digest, name
)
SELECT o.resource AS old_resource, coalesce(n.resource, s.resource) AS new_resource
FROM files o JOIN shortest s ON s.digest = o.digest
LEFT JOIN namesakes n ON n.digest = o.digest AND n.name = o.name
WHERE o.side = 'old';

INSERT INTO judged_urls BY NAME
WITH asked AS ( -- by a rule for the URL, or by the page at its path that moves on
    SELECT u.*, coalesce(a.url, f.url, c.url) AS led_url
    FROM old_urls u LEFT JOIN led a ON a.url = u.url
    LEFT JOIN led f ON f.url = u.file_url AND NOT list_contains(index_names(), regexp_extract(u.file_url, '[^/]*$')) -- with wget's .html, or not
    LEFT JOIN (SELECT d.url FROM led d JOIN located l ON l.side = 'new' AND l.url = d.url
        SEMI JOIN stubs s ON s.resource = l.resource) c ON c.url = u.new_url
), ruled AS (
    SELECT k.*, d.url IS NOT NULL AS is_ruled, d.final AS led_final, d.resource AS led_resource, d.hops AS led_hops,
        d.is_loop, d.is_gone, d.is_outside, d.rule,
        CASE WHEN d.is_old AND NOT d.is_outside THEN bare(d.final) END AS dead_end
    FROM asked k LEFT JOIN led d ON d.url = k.led_url
), placed AS (
    SELECT r.*,
        coalesce(l.resource, CASE WHEN l.variant = 'slash' THEN l.variant_resource END) AS there_resource,
        l.there, CASE WHEN l.variant = 'slash' THEN 1 ELSE 0 END AS there_hops
    FROM ruled r LEFT JOIN located l ON l.side = 'new' AND l.url = r.new_url
), known AS (
    SELECT p.*, t.digest AS there_digest, t.is_page AS there_is_page,
        s.score AS there_score, s.names AS there_names, ls.score AS led_score, ls.names AS led_names,
        d.new_resource AS digest_resource, dn.url AS digest_url,
        m.new_resource AS content_resource, mn.url AS content_url, m.score AS content_score,
        sn.url AS second_url,
        h.resource IS NOT NULL AND NOT p.is_home AS leads_home
    FROM placed p
    LEFT JOIN resources t ON t.resource = p.there_resource
    LEFT JOIN pair_scores s ON s.old_resource = p.resource AND s.new_resource = p.there_resource
    LEFT JOIN pair_scores ls ON ls.old_resource = p.resource AND ls.new_resource = p.led_resource
    LEFT JOIN found_by_digest d ON d.old_resource = p.resource
    LEFT JOIN named dn ON dn.resource = d.new_resource
    LEFT JOIN content_matches m ON m.old_resource = p.resource
    LEFT JOIN named mn ON mn.resource = m.new_resource
    LEFT JOIN named sn ON sn.resource = m.second_resource
    LEFT JOIN home h ON h.resource = p.led_resource AND p.is_ruled AND NOT p.is_loop
), twice AS ( -- new files that are the same as old ones at the same URL
    SELECT DISTINCT there_resource FROM known WHERE digest = there_digest
), counted AS ( -- a rule that leads many pages to the home page
    SELECT *, count(*) FILTER (leads_home AND NOT coalesce(led_score >= threshold(), false)) OVER (PARTITION BY rule) AS of_rule,
        count(*) FILTER (leads_home AND NOT coalesce(led_score >= threshold(), false)) OVER () AS of_all
    FROM (SELECT k.*, t.there_resource IS NOT NULL AS is_held_twice FROM known k
        LEFT JOIN twice t ON t.there_resource = coalesce(k.digest_resource, k.content_resource)) k
), own AS (SELECT *, CASE
    WHEN there_resource IS NOT NULL AND NOT is_ruled THEN CASE
        WHEN digest IS NULL OR there_digest IS NULL OR digest = there_digest THEN 'kept'
        WHEN is_page AND there_is_page THEN CASE -- an updated page has its name, or most of its text
            WHEN there_score IS NULL OR there_score >= threshold() OR there_names = 2 THEN 'kept'
            WHEN coalesce(digest_resource, content_resource) <> there_resource AND NOT is_held_twice THEN 'replaced'
            WHEN is_home OR there_names = 1 OR there_score >= 0.75 * threshold() THEN 'kept' ELSE 'replaced' END
        WHEN digest_resource IS NOT NULL AND digest_url <> there AND NOT is_held_twice THEN 'replaced'
        ELSE 'kept' END
    WHEN is_ruled AND is_gone THEN 'gone'
    WHEN is_ruled AND is_loop THEN 'lost'
    WHEN is_ruled AND led_resource IS NULL AND NOT is_outside THEN 'lost'
    WHEN leads_home AND NOT coalesce(led_score >= threshold(), false) AND (of_rule >= 2 OR of_all >= 5)
        THEN 'lost'
    WHEN is_ruled AND led_score < threshold() AND led_names = 0 AND NOT is_held_twice
        AND coalesce(digest_resource, content_resource) <> led_resource THEN 'replaced'
    WHEN is_ruled THEN 'mapped'
    WHEN digest_resource IS NOT NULL OR content_resource IS NOT NULL THEN 'moved'
    ELSE 'lost' END AS verdict,
    coalesce(digest_url, content_url) AS elsewhere
FROM counted), moved AS (
    SELECT url, url AS home, elsewhere, coalesce(digest_resource, content_resource) AS new_resource FROM own
    WHERE verdict = 'moved'
    UNION ALL SELECT file_url, url, elsewhere, coalesce(digest_resource, content_resource) FROM own
    WHERE verdict = 'moved' AND file_url <> url
) -- a rule that leads to an old URL without one is as good as that
SELECT o.* REPLACE (CASE WHEN m.url IS NULL THEN o.verdict ELSE 'moved' END AS verdict,
        coalesce(m.elsewhere, o.elsewhere) AS elsewhere,
        CASE WHEN m.url IS NULL THEN o.digest_url END AS digest_url, CASE WHEN m.url IS NULL THEN o.second_url END AS second_url,
        CASE WHEN m.url IS NULL THEN o.content_score END AS content_score,
        coalesce(m.new_resource, o.digest_resource) AS digest_resource),
    coalesce(m.home, o.url) AS moved_url
FROM own o LEFT JOIN moved m ON without_scheme(m.url) = without_scheme(o.dead_end);

-- Where the content of an old URL is now, by each of its URLs.
INSERT INTO homes
WITH placed AS (
    SELECT url, file_url, resource, verdict, CASE verdict WHEN 'kept' THEN there WHEN 'mapped' THEN led_final
        ELSE elsewhere END AS final,
        CASE verdict WHEN 'kept' THEN there_resource WHEN 'mapped' THEN led_resource
        ELSE coalesce(digest_resource, content_resource) END AS new_resource
    FROM judged_urls WHERE verdict IN ('kept', 'mapped', 'moved')
)
SELECT url, resource, new_resource, verdict, final FROM placed
UNION ALL
SELECT file_url, resource, new_resource, verdict, final FROM placed WHERE file_url <> url;
