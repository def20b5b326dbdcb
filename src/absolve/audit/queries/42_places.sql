-- missing_places: the fragments in `wanted_places` that lead to no place of their page (HTML 7.4.6.4).

CREATE OR REPLACE TABLE anchors AS
WITH held AS ( -- of a page; and of the items of a feed, the cells of a notebook, which have no URL of their own
    SELECT document, entity, anchors, true AS is_own FROM new_documents
    UNION ALL
    SELECT document, regexp_replace(entity, '/?[^/]*$', ''), anchors, false FROM new_documents WHERE url IS NULL
    UNION ALL -- of the files that a page includes
    SELECT p.document, p.entity, d.anchors, true FROM included i JOIN resources p ON p.resource = i.page
    JOIN resources f ON f.resource = i.fragment JOIN new_documents d ON d.document = f.document AND d.entity = f.entity
)
    SELECT DISTINCT r.resource, place, name_key(place, r.media_type, r.path) AS key FROM (
        SELECT r.resource, r.media_type, r.path, unnest(h.anchors) AS place
        FROM resources r JOIN held h ON h.document = r.document AND h.entity = r.entity AND (h.is_own OR NOT r.is_page)
        WHERE r.side = 'new' AND r.has_places AND r.resource IN (SELECT resource FROM wanted_places)
    ) r;

INSERT INTO missing_places
WITH fragments AS (
    SELECT DISTINCT w.resource, w.fragment, r.media_type, r.path, regexp_replace(w.fragment, ':~:.*$', '') AS raw
    FROM wanted_places w JOIN resources r ON r.resource = w.resource
    WHERE w.fragment IS NOT NULL AND r.has_places AND NOT r.is_cut
), decoded_places AS (
    SELECT *, CASE WHEN contains(raw, '%') THEN coalesce(TRY(url_decode(raw)), raw) ELSE raw END AS decoded
    FROM fragments WHERE raw <> ''
), found AS (
    SELECT w.resource, w.fragment FROM decoded_places w SEMI JOIN anchors p ON p.resource = w.resource AND p.place = w.raw
    UNION ALL
    SELECT w.resource, w.fragment FROM decoded_places w
    SEMI JOIN anchors p ON p.resource = w.resource AND p.key = name_key(w.decoded, w.media_type, w.path)
    UNION ALL -- lines of a source (rustdoc)
    SELECT w.resource, w.fragment FROM decoded_places w
    SEMI JOIN anchors p ON p.resource = w.resource AND p.place = regexp_extract(w.raw, '^([0-9]+)-[0-9]+$', 1)
)
SELECT w.resource, w.fragment, min(p.place) AS other_case
FROM decoded_places w ANTI JOIN found f ON f.resource = w.resource AND f.fragment = w.fragment
LEFT JOIN anchors p ON p.resource = w.resource AND lower(p.place) = lower(w.decoded)
WHERE lower(w.decoded) <> 'top'
    -- no names: views of SVG, places in EPUB and XML, parts of media; lines of a source, the README (GitHub), tabs (DocFX)
    AND NOT regexp_matches(w.decoded, '^((svgView|epubcfi|xpointer|element)\(|(xywh|t|track)=)')
    AND NOT (w.media_type = 'text/markdown' AND regexp_matches(w.decoded, '^(L\d+(C\d+)?(-L\d+(C\d+)?)?$|tab/)'
        || CASE WHEN regexp_matches(lower(w.path), '(^|/)readme\.[a-z]+$') THEN '|^readme$' ELSE '' END))
GROUP BY w.resource, w.fragment;
