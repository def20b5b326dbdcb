-- counterparts: URLs on the old host that links of the new site name, as the old site had them, and the same path here.
-- strays: URLs of the new host that are outside the site's folder, and the same path inside it, and in the old site.

CREATE OR REPLACE TABLE counterparts AS
WITH rests AS (
    SELECT l.url, o.base, substr(l.path, length(o.prefix) + 1) || coalesce('?' || query_of(l.url), '') AS rest
    FROM located l JOIN scopes o ON o.side = 'old' AND o.site = l.site AND starts_with(l.path, o.prefix)
    WHERE l.side = 'new' AND l.resource IS NULL
)
SELECT url, base || rest AS old_url, old_base() || rest AS main_url,
    new_base() || rest AS new_url
FROM rests;

CREATE OR REPLACE TABLE strays AS
SELECT DISTINCT l.url, s.base || substr(l.path, 2) || coalesce('?' || query_of(l.url), '') AS inner_url,
    old_base() || substr(l.path, 2) || coalesce('?' || query_of(l.url), '') AS old_url
FROM asked a JOIN located l ON l.side = 'new' AND l.url = a.url
JOIN scopes s ON s.side = 'new' AND s.is_main AND s.site = l.site AND NOT starts_with(l.path || '/', s.prefix)
WHERE a.is_placed AND l.resource IS NULL;

CREATE OR REPLACE TABLE wanted AS
    SELECT 'new' AS side, new_url AS url FROM counterparts UNION ALL SELECT 'new', inner_url FROM strays;
