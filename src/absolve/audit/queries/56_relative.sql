-- More findings: references without a scheme where only a full URL works, or, in the page for missing URLs, a path; names of
-- files that browsers take for a URL with a scheme, as Talk:Rye.html (RFC 3986 4.2), or with a host, as //docs/a.html.

CREATE OR REPLACE TABLE colons AS
SELECT l.* EXCLUDE (base_layer, base_source, text, problems, is_insecure), a.url AS url, 'broken' AS verdict,
    a.url || regexp_extract(l.reference, '[?#].*') AS final, 0 AS hops, true AS is_sure, false AS is_gone, false AS is_stray,
    CASE WHEN starts_with(l.reference, '//') THEN 'slashes' ELSE 'colon' END AS cause
FROM links_in l JOIN served a ON a.side = 'new' AND a.site = site_of(l.base)
    AND a.key = key_of(CASE WHEN starts_with(l.reference, '//') THEN '' ELSE folder_of(path_of(l.base)) END
        || replace(split_part(split_part(l.reference, '#', 1), '?', 1), '//', '/'))
WHERE l.scope IN ('other', 'external') AND length(l.reference) < 1000
AND regexp_matches(l.reference, '^[A-Za-z][A-Za-z0-9+.-]*:[^/\\]|^//[^/\\.:?#]+/'); -- a host without a dot is not public

DELETE FROM findings WHERE id IN (SELECT id FROM colons); -- File:x.png is not on the own machine
INSERT INTO findings BY NAME FROM colons;

CREATE OR REPLACE TABLE in_feeds AS -- what is there by another base that readers take
SELECT i.link AS id, arg_min(i.url, i.rowid) AS url FROM instead i
JOIN served a ON a.side = 'new' AND a.site = site_of(i.url) AND a.key = key_of(path_of(i.url)) GROUP BY i.link;
DELETE FROM findings WHERE id IN (SELECT id FROM in_feeds);

-- forms: the links that need a full URL or a path, whatever is wrong with them.
INSERT INTO forms
WITH languages AS (
    SELECT document, entity, substr(alternate, instr(alternate, '=') + 1)
    FROM (SELECT document, entity, unnest(alternates) AS alternate FROM new_documents)
), rooted AS ( -- pages whose base element does not depend on their own place
    SELECT document, entity FROM new_all_links
    WHERE element = 'base' AND attribute = 'href' AND regexp_matches(reference, '^(/|[A-Za-z][A-Za-z0-9+.-]*:)')
), moved_on AS ( -- pages of Javadoc that lead to their canonical URL, also in noscript
    SELECT document, entity, reference FROM links_in WHERE element = 'meta' AND id NOT IN (SELECT id FROM metas)
), podcasts AS (
    SELECT document, entity FROM links_in WHERE attribute = '' AND element IN ('link', 'guid')
), judged AS (
    SELECT l.id, CASE
        WHEN attribute = '' AND element IN ('loc', 'thumbnail_loc', 'content_loc', 'player_loc', 'link', 'guid', 'comments', 'docs',
                'commentRss', 'new-feed-url')
            OR attribute = '' AND element = 'url' AND kind = 'image' -- in the element image of RSS
            OR attribute = 'url' AND element IN ('enclosure', 'source', 'content', 'thumbnail', 'player', 'transcript', 'chapters', 'funding')
            OR attribute = 'href' AND element = 'image' AND (l.document, l.entity) IN (FROM podcasts)
            OR element = 'link' AND kind = 'feed' AND lower(rel) = 'self' AND base_layer <> 'embedded' -- of Atom, without xml:base
            OR element = 'jsonfeed'
            OR l.id IN (SELECT id FROM in_feeds)
            OR element = 'robots.txt'
            OR l.id IN (SELECT id FROM metas WHERE regexp_matches(name, '^(og|twitter):'))
            OR element IN ('link', 'header') AND regexp_matches(lower(rel), '(^| )canonical( |$)')
                AND (l.document, l.entity, reference) NOT IN (FROM moved_on)
            OR element = 'link' AND regexp_matches(lower(rel), '(^| )alternate( |$)') AND (l.document, l.entity, target) IN (FROM languages)
            THEN 'full'
        WHEN p.document IS NOT NULL AND (l.document, l.entity) NOT IN (FROM rooted) AND NOT regexp_matches(reference, '^[/\\#?]')
            OR l.id IN (SELECT id FROM in_fragments) OR starts_with(reference, '//') THEN 'path' END AS form
    FROM links_in l LEFT JOIN resources p
        ON p.side = 'new' AND p.document = l.document AND p.entity = l.entity AND p.url = new_base() || not_found_page()
    WHERE is_relative(reference) AND target IS NOT NULL OR l.id IN (SELECT id FROM colons)
)
FROM (SELECT id, coalesce(j.form, CASE WHEN c.id IS NOT NULL THEN 'dotted' END) AS form FROM judged j LEFT JOIN colons c USING (id))
WHERE form IS NOT NULL;

INSERT INTO findings BY NAME
SELECT l.* EXCLUDE (base_layer, base_source, text, problems, is_insecure), bare(target) AS url, 'relative' AS verdict,
    coalesce(i.url, target) AS final, 0 AS hops, NOT is_assumed(target) AND coalesce(is_at_top OR NOT is_mixed, true) AS is_sure, false AS is_gone, false AS is_stray,
    CASE WHEN form = 'path' THEN CASE WHEN is_mixed THEN 'include' ELSE 'not-found' END WHEN i.url IS NOT NULL THEN 'feed'
        ELSE 'relative:' || element || CASE attribute WHEN '' THEN '' ELSE '[' || attribute || ']' END END AS cause
FROM links_in l JOIN forms m USING (id) LEFT JOIN in_feeds i USING (id) LEFT JOIN in_fragments g USING (id) ANTI JOIN findings f USING (id)
WHERE form <> 'path' OR coalesce(is_mixed, true); -- else it works in all pages that include it
