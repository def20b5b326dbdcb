-- The old targets of references that are broken now, and the URLs of the old site with the path of a broken one.

CREATE OR REPLACE TABLE olds AS
SELECT DISTINCT f.url, old_base()
    || substr(path_of(f.url), length(s.prefix) + 1) || coalesce('?' || query_of(f.url), '') AS old_url
FROM findings f JOIN scopes s ON s.side = 'new' AND s.site = site_of(f.url) AND starts_with(path_of(f.url), s.prefix)
WHERE f.verdict = 'broken'
UNION SELECT f.url, y.old_url FROM findings f JOIN strays y ON y.url = f.url WHERE f.verdict = 'broken' AND f.is_stray;

CREATE OR REPLACE TABLE wanted AS
WITH broken AS (SELECT DISTINCT element, attribute, reference FROM findings WHERE verdict = 'broken')
SELECT DISTINCT 'old' AS side, bare(l.target) AS url
FROM old_all_links l SEMI JOIN broken b
    ON b.reference = l.reference AND b.element = l.element AND b.attribute = l.attribute
WHERE l.target IS NOT NULL;
