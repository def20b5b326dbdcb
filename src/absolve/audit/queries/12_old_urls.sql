-- old_urls: the URLs of the old site, with their counterparts in the new one: the same path.

CREATE OR REPLACE TABLE old_urls AS
SELECT r.resource, CASE WHEN r.is_file THEN n.url ELSE r.url END AS url, r.url AS file_url, r.is_page, r.digest, r.size, r.path,
    new_base() || substr(path_of(n.url), length(o.prefix) + 1) || coalesce('?' || r.query, '') AS new_url,
    path_of(n.url) = o.prefix AS is_home
FROM resources r JOIN named n ON n.resource = r.resource
JOIN scopes o ON o.side = 'old' AND o.site = r.site AND starts_with(r.path, o.prefix)
WHERE r.side = 'old';

INSERT INTO wanted SELECT 'new', new_url FROM old_urls;
