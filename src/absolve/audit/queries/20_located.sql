-- located: whether the URLs in `wanted` (side, url: no fragment) lead to a resource, or to one in another spelling.

INSERT INTO located
WITH parts AS (
    SELECT side, url, site_of(url) AS site, path_of(url) AS path, query_of(url) AS query
    FROM (SELECT DISTINCT side, url FROM wanted) ANTI JOIN located USING (side, url)
), keyed AS (
    SELECT *, key_of(path) AS key FROM parts
), exact AS (
    SELECT k.*, coalesce(whole.resource, plain.resource) AS resource,
        coalesce(whole.url, plain.url || '?' || k.query) AS there,
        coalesce(whole.sent_to, plain.sent_to || '?' || k.query) AS sent_to
    FROM keyed k
    LEFT JOIN served whole
        ON whole.side = k.side AND whole.site = k.site AND whole.key = k.key || coalesce('?' || k.query, '')
    LEFT JOIN served plain
        ON plain.side = k.side AND plain.site = k.site AND plain.takes_queries
        AND plain.key = CASE WHEN k.query IS NOT NULL THEN k.key END
), loosely AS (
    SELECT side, site, key, loose(key) AS loose, resource, url, takes_queries FROM served
), missing AS ( -- a query belongs to the key, unless files take any
    SELECT side, site, url, query, key, loose(key) AS loose, query IS NOT NULL AS is_file FROM exact WHERE resource IS NULL
    UNION ALL
    SELECT side, site, url, NULL, key || '?' || query, loose(key || '?' || query), false FROM exact
    WHERE resource IS NULL AND query IS NOT NULL
), near AS ( -- in other letter case, with or without the slash, in another Unicode form: in this order
    SELECT e.side, e.url, l.resource, l.url || coalesce('?' || e.query, '') AS there,
        CASE WHEN lower(l.key) = lower(e.key) THEN 1 WHEN rtrim(l.key, '/') = rtrim(e.key, '/') THEN 2
            WHEN nfc_normalize(l.key) = nfc_normalize(e.key) THEN 3 ELSE 1 END AS kind
    FROM missing e JOIN loosely l ON l.side = e.side AND l.site = e.site AND l.loose = e.loose
    WHERE l.takes_queries OR NOT e.is_file
    UNION ALL -- escaped in another charset, or twice
    SELECT e.side, e.url, a.resource, a.url, 3
    FROM exact e JOIN respelled r ON r.url = e.url JOIN served a ON a.side = e.side AND a.site = e.site AND a.key = r.key
    WHERE e.resource IS NULL
), nearest AS (
    SELECT side, url, arg_min(resource, (kind, there)) AS resource, arg_min(there, (kind, there)) AS there,
        min(kind) AS kind, count(DISTINCT resource) AS candidates
    FROM near GROUP BY side, url
)
SELECT e.side, e.url, e.site, e.path, e.key, e.resource,
    coalesce(e.there, n.there) AS there,
    CASE n.kind WHEN 1 THEN 'case' WHEN 2 THEN 'slash' WHEN 3 THEN 'encoding' END AS variant,
    n.resource AS variant_resource,
    coalesce(n.candidates, 0) > 1 AS is_ambiguous,
    e.sent_to
FROM exact e LEFT JOIN nearest n ON n.side = e.side AND n.url = e.url;
