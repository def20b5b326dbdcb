-- The result tables that follow from findings and judged_urls.

CREATE OR REPLACE VIEW links AS
SELECT l.document, l.entity, l.line, l."column", l.start, l."end", l.element, l.attribute, l.kind, l.rel, l.text,
    l.reference, l.base, l.base_layer, l.base_source, l.target, l.scope, l.problems,
    coalesce(f.verdict, CASE l.scope WHEN 'other' THEN 'external' WHEN 'external' THEN 'external'
        WHEN 'same-document' THEN 'same' ELSE 'ok' END) AS verdict,
    f.final, coalesce(f.hops, 0) AS hops, f.fix, f.suggestion, f.cause
FROM links_in l LEFT JOIN fixed_findings f ON f.id = l.id;

CREATE OR REPLACE TABLE urls AS
SELECT url, verdict,
    CASE verdict WHEN 'kept' THEN there WHEN 'mapped' THEN led_final WHEN 'moved' THEN elsewhere
        WHEN 'replaced' THEN elsewhere END AS final,
    CASE verdict WHEN 'kept' THEN there_hops WHEN 'mapped' THEN led_hops ELSE coalesce(led_hops, 0) END AS hops,
    CASE verdict WHEN 'kept' THEN 'same' WHEN 'mapped' THEN 'rule' WHEN 'gone' THEN 'rule'
        ELSE CASE WHEN verdict IN ('moved', 'replaced') AND elsewhere IS NOT NULL THEN
            CASE WHEN digest_url IS NOT NULL THEN 'digest' ELSE 'content' END
            WHEN is_ruled THEN 'rule' END END AS method,
    CASE verdict WHEN 'kept' THEN CASE WHEN digest = there_digest THEN 1.0 ELSE there_score END
        WHEN 'mapped' THEN led_score
        WHEN 'replaced' THEN CASE WHEN elsewhere IS NULL THEN there_score WHEN digest_url IS NOT NULL THEN 1.0
            ELSE content_score END
        WHEN 'moved' THEN CASE WHEN digest_url IS NOT NULL THEN 1.0 ELSE content_score END END AS score,
    CASE WHEN verdict = 'lost' THEN elsewhere
        WHEN verdict = 'mapped' AND led_score < threshold AND elsewhere <> bare(led_final) THEN elsewhere
        WHEN verdict IN ('moved', 'replaced') THEN second_url END AS suggestion,
    cause, CASE WHEN is_ruled THEN rule WHEN verdict IN ('moved', 'replaced') AND elsewhere IS NOT NULL
        THEN url || ',' || elsewhere END AS rule
FROM caused_urls;
