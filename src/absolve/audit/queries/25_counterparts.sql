-- counterparts: URLs on the old host that links of the new site name, as the old site had them, and the same path here.
-- strays: URLs of the new host that lack the site's folder, or have it twice, and of any host that lack the slash behind the site:
-- the same path with it, and in the old site.

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
WITH nested AS ( -- a folder with a folder of the same name
    SELECT DISTINCT s.prefix FROM scopes s JOIN resources r ON r.side = s.side AND r.site = s.site
        AND starts_with(r.path, s.prefix || s.prefix[2:]) WHERE s.side = 'new' AND s.prefix <> '/'
), glued AS ( -- if it is there without the slash that is missing: https://h.exampledocs/a, of docs/a
    SELECT DISTINCT l.url, base || rest AS inner_url FROM (
        SELECT l.url, s.site, s.base, s.prefix, substr(l.site || l.path, length(s.site || s.prefix)) AS rest
        FROM asked a JOIN located l ON l.side = 'new' AND l.url = a.url
        JOIN scopes s ON s.side = 'new' AND s.is_main AND starts_with(l.site || l.path, s.site || s.prefix[:-2])
        WHERE l.resource IS NULL
    ) l JOIN served g ON g.side = 'new' AND g.site = l.site AND rtrim(g.key, '/') = rtrim(key_of(prefix || rest), '/')
    WHERE rest <> '' AND NOT starts_with(rest, '/')
), placed AS (
    SELECT DISTINCT l.url, l.path, s.base, coalesce('?' || query_of(l.url), '') AS query,
        CASE WHEN NOT starts_with(l.path || '/', s.prefix) THEN CASE WHEN a.is_placed THEN 2 END
            WHEN s.prefix <> '/' AND starts_with(l.path || '/', s.prefix || s.prefix[2:]) AND s.prefix NOT IN (FROM nested)
            THEN 2 * length(s.prefix) END AS start
    FROM asked a JOIN located l ON l.side = 'new' AND l.url = a.url
    JOIN scopes s ON s.side = 'new' AND s.is_main AND s.site = l.site
    WHERE l.resource IS NULL
)
SELECT url, base || substr(path, start) || query AS inner_url, old_base() || substr(path, 2) || query AS old_url,
    CASE start WHEN 2 THEN 'folder' ELSE 'folder-twice' END AS cause
FROM placed ANTI JOIN glued USING (url) WHERE start IS NOT NULL
UNION ALL SELECT url, inner_url || coalesce('?' || query_of(url), ''), NULL, 'folder-slash' FROM glued;

CREATE OR REPLACE TABLE wanted AS
    SELECT 'new' AS side, new_url AS url FROM counterparts UNION ALL SELECT 'new', inner_url FROM strays;
