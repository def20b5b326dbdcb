-- counterparts: URLs on the old host that links of the new site name, as the old site had them, and the same path here.

CREATE OR REPLACE TABLE counterparts AS
WITH rests AS (
    SELECT l.url, o.base, substr(l.path, length(o.prefix) + 1) || coalesce('?' || query_of(l.url), '') AS rest
    FROM located l JOIN scopes o ON o.side = 'old' AND o.site = l.site AND starts_with(l.path, o.prefix)
    WHERE l.side = 'new' AND l.resource IS NULL
)
SELECT url, base || rest AS old_url, (SELECT base FROM scopes WHERE side = 'new' AND is_main) || rest AS new_url
FROM rests;

CREATE OR REPLACE TABLE wanted AS SELECT 'new' AS side, new_url AS url FROM counterparts;
