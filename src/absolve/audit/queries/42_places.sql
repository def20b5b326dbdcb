-- missing_places: the fragments in `wanted_places` that lead to no place of their page (HTML 7.4.6.4).

CREATE OR REPLACE TABLE anchors AS
    SELECT r.resource, unnest(d.anchors) AS place
    FROM resources r JOIN new_documents d ON d.document = r.document AND d.entity = r.entity
    WHERE r.side = 'new' AND r.has_places AND r.resource IN (SELECT resource FROM wanted_places);

CREATE OR REPLACE TABLE missing_places AS
WITH fragments AS (
    SELECT DISTINCT w.resource, w.fragment, regexp_replace(w.fragment, ':~:.*$', '') AS raw
    FROM wanted_places w JOIN resources r ON r.resource = w.resource
    WHERE w.fragment IS NOT NULL AND r.has_places AND NOT r.is_cut
), decoded_places AS (
    SELECT *, CASE WHEN contains(raw, '%') THEN coalesce(TRY(url_decode(raw)), raw) ELSE raw END AS decoded
    FROM fragments WHERE raw <> ''
), found AS (
    SELECT w.resource, w.fragment FROM decoded_places w SEMI JOIN anchors p ON p.resource = w.resource AND p.place = w.raw
    UNION ALL
    SELECT w.resource, w.fragment FROM decoded_places w
    SEMI JOIN anchors p ON p.resource = w.resource AND p.place = w.decoded
)
SELECT w.resource, w.fragment, min(p.place) AS other_case
FROM decoded_places w ANTI JOIN found f ON f.resource = w.resource AND f.fragment = w.fragment
LEFT JOIN anchors p ON p.resource = w.resource AND lower(p.place) = lower(w.decoded)
WHERE lower(w.decoded) <> 'top'
GROUP BY w.resource, w.fragment;
