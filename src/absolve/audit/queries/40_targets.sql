-- targets: one row for each distinct target of a link, with the verdict that does not depend on the link itself.

CREATE OR REPLACE TABLE anchors AS -- what a fragment can lead to (HTML 7.4.6.4)
    SELECT r.resource, unnest(d.anchors) AS place
    FROM resources r JOIN new_documents d ON d.document = r.document AND d.entity = r.entity
    WHERE r.side = 'new' AND r.has_places
    AND r.resource IN (SELECT l.resource FROM asked a JOIN located l ON l.side = 'new' AND l.url = a.url
        WHERE a.fragment IS NOT NULL);

CREATE OR REPLACE TABLE missing_places AS
WITH fragments AS (
    SELECT DISTINCT l.resource, a.fragment, regexp_replace(a.fragment, ':~:.*$', '') AS raw
    FROM asked a JOIN located l ON l.side = 'new' AND l.url = a.url
    JOIN resources r ON r.resource = l.resource
    WHERE a.fragment IS NOT NULL AND r.has_places AND NOT r.is_cut
), wanted_places AS (
    SELECT *, CASE WHEN contains(raw, '%') THEN coalesce(TRY(url_decode(raw)), raw) ELSE raw END AS decoded
    FROM fragments WHERE raw <> ''
), found AS (
    SELECT w.resource, w.fragment FROM wanted_places w SEMI JOIN anchors p ON p.resource = w.resource AND p.place = w.raw
    UNION ALL
    SELECT w.resource, w.fragment FROM wanted_places w
    SEMI JOIN anchors p ON p.resource = w.resource AND p.place = w.decoded
)
SELECT w.resource, w.fragment, min(p.place) AS other_case
FROM wanted_places w ANTI JOIN found f ON f.resource = w.resource AND f.fragment = w.fragment
LEFT JOIN anchors p ON p.resource = w.resource AND lower(p.place) = lower(w.decoded)
WHERE lower(w.decoded) <> 'top'
GROUP BY w.resource, w.fragment;

CREATE OR REPLACE TABLE targets AS
WITH scoped AS (
    SELECT a.target, a.url, a.fragment, l.site, l.path, l.resource, l.there, l.variant, l.variant_resource,
        l.is_ambiguous, n.prefix AS new_prefix, o.prefix AS old_prefix
    FROM asked a JOIN located l ON l.side = 'new' AND l.url = a.url
    LEFT JOIN scopes n ON n.side = 'new' AND n.site = l.site AND starts_with(l.path, n.prefix)
    LEFT JOIN scopes o ON o.side = 'old' AND o.site = l.site AND starts_with(l.path, o.prefix)
), known AS (
    SELECT s.*, m.fragment IS NOT NULL AS is_misplaced, m.other_case,
        s.new_prefix IS NOT NULL AS is_inside,
        s.old_prefix IS NOT NULL AND s.resource IS NULL
            AND (s.new_prefix IS NULL OR length(s.old_prefix) > length(s.new_prefix)) AS is_leftover
    FROM scoped s
    LEFT JOIN missing_places m ON m.resource = s.resource AND m.fragment = s.fragment
), leftovers AS ( -- by the map, else the same path, else where its content is
    SELECT k.target,
        CASE WHEN d.final IS NOT NULL THEN d.final WHEN d.url IS NULL OR NOT d.is_gone THEN coalesce(p.there, h.final) END
            AS final,
        CASE WHEN d.final IS NOT NULL THEN d.resource IS NOT NULL OR d.is_outside ELSE
            coalesce(p.resource IS NOT NULL, false) OR h.final IS NOT NULL END AS is_there,
        coalesce(d.hops, 0) AS hops, d.cause_rule AS rule
    FROM known k JOIN counterparts c ON c.url = k.url
    LEFT JOIN led d ON d.url = c.old_url
    LEFT JOIN located p ON p.side = 'new' AND p.url = c.new_url
    LEFT JOIN homes h ON h.url = c.old_url
    WHERE k.is_leftover
)
SELECT k.target, k.url, k.fragment, k.site, k.path, k.is_inside, k.variant,
    CASE WHEN d.resource IS NOT NULL AND d.hops = 0 THEN d.resource ELSE k.resource END AS resource,
    CASE
        WHEN k.resource IS NOT NULL AND d.url IS NULL THEN CASE WHEN k.is_misplaced THEN 'fragment' ELSE 'ok' END
        WHEN k.is_leftover THEN 'leftover'
        WHEN d.is_loop THEN 'loop'
        WHEN d.url IS NOT NULL AND d.resource IS NULL AND NOT d.is_outside THEN 'broken'
        WHEN d.hops > 1 THEN 'chain'
        WHEN d.hops = 1 THEN 'redirected'
        WHEN d.url IS NOT NULL THEN 'ok' -- another file is sent, without a redirect
        WHEN NOT k.is_inside THEN 'external'
        WHEN k.variant IS NOT NULL THEN k.variant
        ELSE 'broken'
    END AS verdict,
    with_fragment(CASE
        WHEN k.is_leftover THEN f.final
        WHEN d.url IS NOT NULL THEN d.final
        WHEN k.resource IS NOT NULL AND k.is_misplaced THEN k.url
        WHEN k.resource IS NULL AND k.variant IS NOT NULL THEN k.there
    END, CASE WHEN k.is_misplaced AND NOT k.is_leftover AND d.url IS NULL THEN NULL ELSE k.fragment END) AS final,
    CASE WHEN k.is_leftover THEN f.hops WHEN d.url IS NOT NULL THEN d.hops ELSE 0 END AS hops,
    CASE WHEN k.is_leftover THEN f.is_there
        WHEN d.url IS NOT NULL THEN d.resource IS NOT NULL OR (d.is_outside AND NOT d.is_old) -- no link to the old site
        WHEN k.resource IS NULL THEN k.variant IS NOT NULL AND NOT k.is_ambiguous ELSE false END AS is_sure,
    CASE WHEN k.other_case IS NOT NULL THEN k.url || '#' || k.other_case
        WHEN k.is_ambiguous THEN k.there END AS suggestion,
    CASE WHEN k.is_leftover THEN f.rule ELSE CASE WHEN d.is_loop OR d.resource IS NOT NULL OR d.is_outside THEN d.cause_rule ELSE d.rule END END AS rule,
    coalesce(d.is_gone, false) AS is_gone,
    CASE WHEN starts_with(k.url, 'http:') AND k.resource IS NOT NULL
        THEN with_fragment('https' || k.url[5:], k.fragment) END AS secure
FROM known k
LEFT JOIN led d ON d.url = k.url AND NOT k.is_leftover
LEFT JOIN leftovers f ON f.target = k.target;
