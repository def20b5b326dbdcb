-- led: where the maps lead a URL in the end, and whether that is there. moves: the chains that Python followed.

INSERT INTO led BY NAME
WITH ends AS (
    SELECT m.*, coalesce(m.served, bare(m.final)) AS content FROM moves m
)
SELECT e.url, e.loop AS is_loop, e.gone AS is_gone, e.rule, e.cause_rule, e.status,
    e.hops + CASE WHEN l.variant = 'slash' AND redirects_folders() THEN 1 ELSE 0 END AS hops,
    CASE WHEN l.resource IS NULL AND l.variant = 'slash' AND e.served IS NULL
            AND redirects_folders()
        THEN with_fragment(l.there, fragment_of(e.final)) ELSE e.final END AS final,
    coalesce(l.resource, CASE WHEN l.variant = 'slash' AND redirects_folders()
        THEN l.variant_resource END) AS resource,
    e.final IS NOT NULL AND (NOT EXISTS (
        SELECT 1 FROM scopes s WHERE s.site = site_of(e.content)
        AND starts_with(path_of(e.content), s.prefix))
        OR l.resource IS NULL AND EXISTS (SELECT 1 FROM working v WHERE v.url = bare(e.final))) -- no file, but a server
        AS is_outside,
    -- an old URL without a rule, which nothing answers
    e.final IS NOT NULL AND l.resource IS NULL AND l.variant IS DISTINCT FROM 'slash' AND EXISTS (
        SELECT 1 FROM scopes s WHERE s.side = 'old' AND s.site = site_of(e.content)
        AND starts_with(path_of(e.content), s.prefix)) AS is_old
FROM ends e LEFT JOIN located l ON l.side = 'new' AND l.url = e.content;
