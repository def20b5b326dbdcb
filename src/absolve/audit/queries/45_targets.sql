-- targets: one row for each distinct target of a link, with the verdict that does not depend on the link itself.

-- Pages of HTML that are no pictures: not files that a server runs, and not what a header takes for a page.
CREATE OR REPLACE VIEW html_pages AS SELECT resource FROM resources
    WHERE side = 'new' AND media_type IN ('text/html', 'application/xhtml+xml')
    AND CASE WHEN is_file THEN regexp_matches(lower(path), '(/[^./]*|\.x?html?)$') ELSE title IS NOT NULL END;

CREATE OR REPLACE TABLE targets AS
WITH placed AS (
    SELECT e.* EXCLUDE (hops), m.fragment IS NOT NULL AS is_misplaced, o.fragment IS NOT NULL AS is_own_misplaced, m.other_case, a.verdict AS answered,
        u.target IS NOT NULL AS is_unsure, a.final AS answered_final, a.is_sure AS answered_is_sure, coalesce(a.hops, e.hops) AS hops
    FROM ends e LEFT JOIN missing_places m ON m.resource = e.end_resource AND m.fragment = fragment_of(e."end")
    LEFT JOIN missing_places o ON o.resource = e.resource AND o.fragment = e.fragment
    LEFT JOIN answered a ON a.target = e.target AND NOT e.is_leftover AND NOT e.is_led
    LEFT JOIN answered u ON u.target = bare(e."end") AND u.verdict = 'unsure' AND e.is_led AND e.led_resource IS NULL AND NOT e.is_outside
)
SELECT target, url, fragment, site, path, is_inside, stray, with_fragment(stray_there, fragment) AS stray_there, stray_old, variant,
    hops, CASE WHEN NOT is_unsure THEN rule END AS rule, is_gone, is_own_misplaced,
    end_resource IN (SELECT resource FROM html_pages) OR resource IS NULL AND url IN (SELECT url FROM answered_pages) AS is_html,
    CASE WHEN led_resource IS NOT NULL AND hops = 0 THEN led_resource ELSE resource END AS resource,
    CASE
        WHEN resource IS NOT NULL AND NOT is_led THEN
            CASE WHEN is_misplaced THEN 'fragment' WHEN sent_to IS NOT NULL THEN 'redirected' ELSE 'ok' END
        WHEN is_leftover THEN 'leftover'
        WHEN NOT is_inside AND is_local(url) THEN 'local'
        WHEN is_glued(url) THEN 'malformed'
        WHEN is_loop THEN 'loop'
        WHEN is_unsure THEN 'unsure' -- whether its rule leads to a page
        WHEN is_led AND led_resource IS NULL AND NOT is_outside THEN 'broken'
        WHEN is_led AND is_misplaced THEN 'fragment'
        WHEN answered IS NULL AND hops > 1 THEN 'chain'
        WHEN answered IS NULL AND hops = 1 THEN 'redirected'
        WHEN is_led THEN 'ok' -- another file is sent, without a redirect
        WHEN answered IS NOT NULL THEN answered
        WHEN NOT is_inside THEN 'external'
        WHEN len(list_filter(answers(), lambda one: starts_with(key_of(path) || '/', one))) > 0 THEN 'ok'
        WHEN variant IS NOT NULL THEN variant
        ELSE 'broken'
    END AS verdict,
    CASE WHEN answered IS NOT NULL THEN answered_final WHEN is_misplaced THEN bare("end") WHEN is_led OR is_leftover OR resource IS NULL OR sent_to IS NOT NULL
        THEN "end" END AS final,
    NOT is_misplaced AND CASE WHEN answered IS NOT NULL THEN answered_is_sure WHEN is_leftover THEN is_there
        WHEN is_led THEN led_resource IS NOT NULL OR (is_outside AND NOT is_old) -- no link to the old site
        ELSE sent_to IS NOT NULL OR resource IS NULL AND variant IS NOT NULL AND NOT is_ambiguous END AS is_sure,
    CASE WHEN other_case IS NOT NULL THEN bare("end") || '#' || other_case
        WHEN is_ambiguous THEN there WHEN is_glued(url) THEN unglued(target) END AS suggestion,
    CASE WHEN starts_with(url, 'http:') AND resource IS NOT NULL
        THEN with_fragment('https' || url[5:], fragment) END AS secure
FROM placed;
