-- resources: what each site holds, one row for each URL. served: the URLs under which a server finds them.

CREATE OR REPLACE VIEW documents AS
    SELECT 'new' AS side, * FROM new_documents UNION ALL SELECT 'old' AS side, * FROM old_documents;

-- The page of an application whose server answers every URL with it, robots.txt, too.
CREATE TABLE no_pages AS SELECT side, document, entity FROM documents
    WHERE path_of(url) = '/robots.txt' AND media_type IN ('text/html', 'application/xhtml+xml');

CREATE TABLE resources AS
WITH held AS (
    SELECT d.side, d.document, d.entity, coalesce(s.url, bare(d.url)) AS url, d.media_type, d.charset, d.size,
        d.digest, d.title, d.canonical,
        d.url_source IN ('--url', '--url-map', 'host folder', 'assumed', 'path in the package') OR d.url_source IS NULL AS is_file,
        list_contains(d.problems, 'too-many-anchors') AS is_cut,
        d.date
    FROM documents d ANTI JOIN no_pages n ON n.side = d.side AND n.document = d.document AND n.entity = d.entity
    LEFT JOIN spellings s ON s.raw = d.url
    WHERE d.url IS NOT NULL AND (d.status IS NULL OR d.status BETWEEN 200 AND 299 OR d.status = 304)
), repeated AS ( -- URLs with several captures or files; a window over all others would take longer
    SELECT side, url FROM held GROUP BY side, url HAVING count(*) > 1
), one AS (
    SELECT h.* FROM held h ANTI JOIN repeated r ON r.side = h.side AND r.url = h.url WHERE starts_with(h.url, 'http')
    UNION ALL
    SELECT h.* FROM held h SEMI JOIN repeated r ON r.side = h.side AND r.url = h.url WHERE starts_with(h.url, 'http')
    QUALIFY row_number() OVER (PARTITION BY h.side, h.url
        ORDER BY h.size IS NULL, h.date DESC NULLS LAST, h.document, h.entity) = 1
)
SELECT row_number() OVER () AS resource, side, document, entity, url,
    site_of(url) AS site, path_of(url) AS path, query_of(url) AS query, media_type, charset, size, digest, title,
    canonical, is_file, is_cut,
    coalesce(media_type IN ('text/html', 'application/xhtml+xml'), regexp_matches(path_of(url), '(/|/[^./]*|\.x?html?)$'))
        AS is_page,
    coalesce(media_type IN ('text/html', 'application/xml', 'text/xml', 'text/markdown', 'application/x-ipynb+json')
            OR media_type LIKE '%+xml', false)
        AND digest IS NOT NULL AS has_places
FROM one;

CREATE TABLE served AS
WITH own AS (
    SELECT resource, side, site, url, path, query, is_file, regexp_extract(path, '([^/]*)$', 1) AS name FROM resources
), shorter AS (
    -- the index of a folder
    SELECT resource, side, site, folder_of(url) AS url, folder_of(path) AS path, query, is_file,
        list_position(index_names(), own_case(name)) AS rank
    FROM own WHERE list_contains(index_names(), own_case(name)) AND query IS NULL
    UNION ALL -- by the URL of the folder without its slash
    SELECT resource, side, site, rtrim(folder_of(url), '/'), rtrim(folder_of(path), '/'), query, is_file, 0
    FROM own WHERE serves_folders() AND list_contains(index_names(), own_case(name)) AND query IS NULL AND path LIKE '/%/%'
    UNION ALL -- a copy of the old site: whatever its server called the index; and what wget -E adds to a name
    SELECT resource, side, site, folder_of(url), folder_of(path), query, is_file, 20 + list_position(names_of_indexes(), lower(name))
    FROM own WHERE side = 'old' AND is_file AND list_contains(names_of_indexes(), lower(name)) AND query IS NULL
    UNION ALL
    SELECT resource, side, site, regexp_replace(url, '\.\w+$', ''), regexp_replace(path, '\.html$', ''),
        regexp_replace(query, '\.\w+$', ''), is_file, 50
    FROM own WHERE side = 'old' AND is_file AND regexp_matches(url, '\?.*[^/]\.(html|css)$|\.(php[0-9]?|aspx?|jsp|cfm|cgi|pl)\.html$')
    UNION ALL -- a page without its extension
    SELECT resource, side, site, url[:-1 - length(extension)], path[:-1 - length(extension)], query, is_file, 100
    FROM own, (SELECT unnest(extensions()) AS extension)
    WHERE ends_with(name, extension) AND name <> extension AND query IS NULL
), forms AS (
    SELECT *, NULL::VARCHAR AS sent_to FROM shorter
    UNION ALL
    SELECT o.resource, o.side, o.site, o.url, o.path, o.query, o.is_file, 0, s.url
    FROM own o LEFT JOIN (SELECT resource, arg_min(url, rank) AS url FROM shorter GROUP BY resource) s
        ON s.resource = o.resource AND o.is_file AND redirects_html()
), keyed AS (
    SELECT side, site, key_of(path) || coalesce('?' || query, '') AS key, resource, url,
        is_file AND query IS NULL AND ignores_queries() AS takes_queries, rank, sent_to
    FROM forms
)
SELECT k.* FROM keyed k ANTI JOIN (SELECT side, site, key FROM keyed GROUP BY ALL HAVING count(*) > 1) r USING (side, site, key)
UNION ALL
SELECT side, site, key, arg_min(resource, (rank, url)), arg_min(url, (rank, url)), bool_or(takes_queries), min(rank),
    CASE WHEN min(rank) = 0 THEN any_value(sent_to) END
FROM keyed SEMI JOIN (SELECT side, site, key FROM keyed GROUP BY ALL HAVING count(*) > 1) r USING (side, site, key)
GROUP BY side, site, key;

-- The URL by which reports name a resource: that of the folder for its index.
CREATE TABLE named AS
SELECT r.resource, coalesce(a.url, r.url) AS url FROM resources r
LEFT JOIN (SELECT resource, min(url) AS url FROM served WHERE rank BETWEEN 1 AND 99 GROUP BY resource) a
    ON a.resource = r.resource;
