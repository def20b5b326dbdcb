-- ends: one row for each distinct target of a link, with the resource that it leads to in the end, and by which URL.

-- The hosts of which a folder with pages was given, beside the site.
CREATE OR REPLACE TABLE given_hosts AS
    SELECT DISTINCT site_of(url) AS site FROM new_documents
    WHERE url_source = 'host folder' AND media_type IN ('text/html', 'application/xhtml+xml');

CREATE OR REPLACE TABLE ends AS
WITH scoped AS (
    SELECT a.target, a.url, a.fragment, l.site, l.path, l.resource, l.there, l.variant, l.variant_resource,
        l.is_ambiguous, l.sent_to, n.prefix IS NOT NULL OR l.variant = 'slash' AND r.prefix IS NOT NULL OR is_assumed(a.url)
            OR l.site IN (FROM given_hosts) AS is_inside,
        y.cause AS stray, i.there AS stray_there, y.old_url AS stray_old,
        o.prefix IS NOT NULL AND l.resource IS NULL AND (n.prefix IS NULL OR length(o.prefix) > length(n.prefix))
            AS is_leftover
    FROM asked a JOIN located l ON l.side = 'new' AND l.url = a.url
    LEFT JOIN scopes n ON n.side = 'new' AND n.site = l.site AND starts_with(l.path, n.prefix)
    LEFT JOIN scopes r ON r.side = 'new' AND r.site = l.site AND l.path || '/' = r.prefix -- the root without its slash
    LEFT JOIN scopes o ON o.side = 'old' AND o.site = l.site AND starts_with(l.path, o.prefix)
    LEFT JOIN strays y ON y.url = a.url LEFT JOIN located i ON i.side = 'new' AND i.url = y.inner_url
), leftovers AS ( -- by the map, else the same path, else where its content is
    SELECT k.target,
        CASE WHEN d.final IS NOT NULL AND NOT d.is_old THEN d.final
            WHEN d.url IS NULL OR NOT d.is_gone THEN coalesce(p.there, h.final) END AS final,
        CASE WHEN d.final IS NOT NULL AND NOT d.is_old THEN d.resource ELSE coalesce(p.resource, h.new_resource) END AS resource,
        CASE WHEN d.final IS NOT NULL AND NOT d.is_old THEN d.resource IS NOT NULL OR d.is_outside ELSE
            coalesce(p.resource IS NOT NULL, false) OR h.final IS NOT NULL END AS is_there,
        coalesce(d.hops, 0) AS hops, d.cause_rule AS rule
    FROM scoped k JOIN counterparts c ON c.url = k.url
    LEFT JOIN led d ON d.url = c.old_url
    LEFT JOIN located p ON p.side = 'new' AND p.url = c.new_url AND NOT coalesce(d.is_old, false)
    LEFT JOIN homes h ON without_scheme(h.url) = without_scheme(CASE WHEN d.is_old THEN bare(d.final) ELSE c.main_url END)
    WHERE k.is_leftover
)
SELECT k.*, d.url IS NOT NULL AS is_led, d.resource AS led_resource, d.is_loop, d.is_outside, d.is_old,
    coalesce(d.is_gone, false) AS is_gone,
    CASE WHEN k.is_leftover THEN f.hops WHEN d.url IS NULL AND k.sent_to IS NOT NULL THEN 1 ELSE coalesce(d.hops, 0) END
        AS hops,
    CASE WHEN k.is_leftover THEN f.rule WHEN d.is_loop OR d.resource IS NOT NULL OR d.is_outside THEN d.cause_rule
        ELSE d.rule END AS rule,
    coalesce(f.is_there, false) AS is_there,
    with_fragment(CASE WHEN k.is_leftover THEN f.final WHEN d.url IS NOT NULL THEN CASE WHEN NOT d.is_old THEN d.final END
        WHEN k.resource IS NOT NULL THEN coalesce(k.sent_to, k.url) ELSE k.there END, k.fragment) AS "end", -- a redirect's own fragment wins
    CASE WHEN k.is_leftover THEN f.resource WHEN d.url IS NOT NULL THEN d.resource
        ELSE coalesce(k.resource, k.variant_resource) END AS end_resource
FROM scoped k
LEFT JOIN led d ON d.url = k.url AND NOT k.is_leftover
LEFT JOIN leftovers f ON f.target = k.target;

CREATE OR REPLACE TABLE wanted_places AS
    SELECT end_resource AS resource, fragment_of("end") AS fragment FROM ends WHERE contains("end", '#')
    UNION ALL SELECT resource, fragment FROM ends WHERE resource IS NOT NULL AND fragment IS NOT NULL;
