-- findings: the links whose verdict does not follow from their scope alone; all others are quiet.

CREATE OR REPLACE TABLE exceptions AS -- targets
    SELECT * FROM targets WHERE verdict <> 'ok' OR secure IS NOT NULL OR hops > 0
    OR is_html AND target IN (SELECT target FROM links_in WHERE kind = 'image');

-- Pages whose base element names the host of the place that their files are assumed to be at.
CREATE OR REPLACE TABLE on_own_machine AS
    SELECT document, entity FROM new_all_links WHERE element = 'base' AND attribute = 'href' AND names_host(reference) AND is_assumed(target);

CREATE OR REPLACE TABLE findings AS
WITH joined AS (
    SELECT l.id, l.document, l.entity, l.line, l."column", l.start, l."end", l.element, l.attribute, l.kind, l.rel,
        l.reference, l.base, l.target, l.scope, l.problems, l.is_insecure,
        t.verdict AS of_target, t.final, t.hops, t.is_sure, t.suggestion, t.rule, t.is_gone, t.secure,
        CASE WHEN names_part(l.target) THEN l.target ELSE t.url END AS url,
        t.is_inside, t.stray_there, t.stray_old, t.is_own_misplaced,
        t.stray IS NOT NULL AND (t.stray <> 'folder' OR names_own(l.element, l.attribute, l.target) OR is_placed(l.reference, l.base_layer)) AS is_stray,
        -- it asks no server, and no rule moves it (RFC 3986 4.4)
        l.scope = 'same-document' AND (l.reference = '' OR starts_with(l.reference, '#')) AS is_own,
        is_assumed(l.target) AND (names_host(l.reference) OR l.base_layer = 'embedded' AND (l.document, l.entity) IN (FROM on_own_machine)) AS is_local,
        l.kind = 'image' AND l.scope <> 'same-document' AND coalesce(t.is_html, false) AND t.verdict IN ('ok', 'external', 'redirected', 'chain', 'fragment')
            AS is_page,
        l.kind IN ('image', 'media', 'script', 'stylesheet', 'frame', 'font') AS is_subresource,
        coalesce(t.verdict, 'ok') IN ('ok', 'fragment') AND NOT l.is_insecure AS is_there,
        -- no fragments that lead to a place; hints that fetch nothing
        l.attribute IN ('usemap', 'datasrc') OR (l.element = 'css' AND starts_with(l.reference, '#')) AS is_name,
        -- of a thing (JSON-LD, microdata), of a source map, of a shape (SVG 1.1, K.1 has no href of theirs), of a page that is sent
        -- for other URLs than its own: it moves no one
        l.element = 'manifest' AND l.attribute = 'scope' OR l.attribute = 'importmap' AND ends_with(l.reference, '/') -- the beginning of URLs
            OR l.attribute IN ('@id', 'itemid', 'sourcemappingurl', 'sourcemap', 'x-sourcemap')
            OR l.attribute = 'xlink:href' AND l.element IN ('path', 'g', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon', 'text', 'tspan')
            OR (l.kind = 'metadata' OR regexp_matches(lower(l.rel), '(^| )canonical( |$)')) AND is_error_page('/' || l.document) AS is_identifier,
        regexp_matches(lower(l.rel), '(^| )(dns-prefetch|preconnect)( |$)') AS is_hint, k.verdict AS there
    FROM links_in l LEFT JOIN exceptions t ON t.target = l.target LEFT JOIN on_disk k ON k.id = l.id
    WHERE t.target IS NOT NULL OR l.target IS NULL OR l.is_insecure OR names_part(l.target)
), judged AS (
    SELECT *, CASE
        WHEN list_contains(problems, 'placeholder') THEN -- XSLT fills in its own (XSLT 1.0, 7.6.2)
            CASE WHEN regexp_matches(lower(document), '\.xslt?$') THEN quiet_verdict(scope) ELSE 'placeholder' END
        WHEN is_own THEN CASE WHEN is_own_misplaced AND NOT is_name AND NOT is_identifier AND (document, entity, fragment_of(target))
            NOT IN (SELECT document, entity, unnest(anchors) FROM new_documents WHERE url IS NULL) -- items of feeds have their own
            THEN CASE WHEN is_template(document, reference) THEN 'placeholder' ELSE 'fragment' END ELSE 'same' END
        WHEN target IS NULL AND scope <> 'same-document' THEN CASE
            WHEN list_has_any(problems, ['malformed', 'too-long']) THEN 'malformed'
            WHEN list_contains(problems, 'unresolved') THEN 'unresolved' ELSE 'ok' END
        WHEN of_target = 'local' OR is_local THEN 'local'
        WHEN of_target = 'malformed' THEN 'malformed'
        WHEN names_part(target) THEN CASE scope WHEN 'other' THEN 'broken' ELSE 'ok' END
        WHEN scope = 'other' THEN 'external'
        WHEN target IS NULL THEN 'same'
        WHEN of_target = 'broken' AND there IS NOT NULL THEN there
        WHEN is_page THEN 'broken'
        WHEN is_hint THEN CASE WHEN of_target = 'leftover' THEN 'leftover' ELSE 'external' END
        WHEN is_identifier AND NOT is_insecure AND of_target <> 'leftover' THEN quiet_verdict(scope)
        WHEN is_there AND (is_name OR coalesce(of_target, 'ok') = 'ok') THEN
            CASE WHEN scope = 'same-document' THEN 'same' ELSE 'ok' END
        WHEN of_target = 'external' AND is_stray AND (stray_there IS NOT NULL OR is_subresource
            OR stray_old IN (SELECT url FROM old_urls UNION ALL SELECT file_url FROM old_urls)) THEN 'broken'
        WHEN of_target = 'external' AND NOT (is_insecure AND is_subresource) THEN 'external'
        WHEN list_contains(problems, 'divergent') THEN 'divergent'
        WHEN of_target = 'leftover' THEN 'leftover'
        WHEN is_insecure AND is_subresource THEN 'mixed'
        WHEN is_insecure AND coalesce(is_inside, true) AND (is_identifier OR coalesce(of_target, 'ok') IN ('ok', 'redirected', 'chain')) THEN 'insecure'
        WHEN of_target IN ('broken', 'fragment')
            AND (is_template(document, reference) OR element = 'include' AND contains(reference, '$')) THEN 'placeholder'
        ELSE of_target END AS verdict
    FROM joined
)
SELECT id, document, entity, line, "column", start, "end", element, attribute, kind, rel, reference, base, target, url,
    scope, verdict,
    CASE WHEN is_own THEN url WHEN verdict IN ('mixed', 'insecure') THEN secure
        WHEN verdict IN ('leftover', 'loop', 'chain', 'redirected', 'case', 'slash', 'encoding', 'fragment', 'broken')
        THEN final END AS final,
    CASE WHEN NOT is_own AND verdict IN ('leftover', 'loop', 'chain', 'redirected', 'fragment', 'broken') THEN hops ELSE 0 END
        AS hops,
    CASE WHEN verdict IN ('mixed', 'insecure') THEN secure IS NOT NULL AND of_target IS DISTINCT FROM 'fragment'
        WHEN verdict IN ('leftover', 'chain', 'redirected', 'case', 'slash', 'encoding') THEN is_sure
        ELSE false END AND coalesce(final, secure) IS NOT NULL AS is_sure,
    CASE WHEN verdict NOT IN ('ok', 'same', 'external', 'unresolved', 'placeholder') THEN coalesce(suggestion, CASE
        WHEN verdict = 'broken' AND names_bare_host(reference) AND NOT contains(base, '//' || split_part(reference, '/', 1) || '/')
        THEN 'https://' || reference END) END AS suggestion,
    rule, is_gone, is_stray, CASE WHEN is_page THEN 'page:' || url END AS cause
FROM judged
WHERE verdict <> quiet_verdict(scope);
