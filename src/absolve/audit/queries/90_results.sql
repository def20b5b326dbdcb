-- The result tables that follow from fixed_findings and caused_urls.

CREATE OR REPLACE VIEW links AS
SELECT l.document, l.entity, l.line, l."column", l.start, l."end", l.element, l.attribute, l.kind, l.rel, l.text,
    l.reference, l.base, l.base_layer, l.base_source, l.target, l.scope, l.problems,
    coalesce(f.verdict, quiet_verdict(l.scope)) AS verdict,
    f.final, coalesce(f.hops, 0) AS hops, f.fix, f.suggestion, f.cause
FROM links_in l LEFT JOIN fixed_findings f ON f.id = l.id ORDER BY l.id;

CREATE OR REPLACE TABLE urls AS
WITH asked_for AS (SELECT url, sum(number)::BIGINT AS requests FROM old_requests GROUP BY url)
SELECT u.url, verdict,
    CASE verdict WHEN 'kept' THEN there WHEN 'mapped' THEN led_final WHEN 'moved' THEN elsewhere
        WHEN 'replaced' THEN elsewhere END AS final,
    CASE verdict WHEN 'kept' THEN there_hops ELSE coalesce(led_hops, 0) END AS hops,
    CASE WHEN verdict = 'kept' THEN 'same' WHEN verdict IN ('mapped', 'gone') THEN 'rule'
        WHEN verdict IN ('moved', 'replaced') AND elsewhere IS NOT NULL THEN
            CASE WHEN digest_url IS NOT NULL AND NOT is_page THEN 'digest' ELSE 'content' END
        WHEN is_ruled THEN 'rule' END AS method,
    CASE verdict WHEN 'kept' THEN CASE WHEN digest = there_digest THEN 1.0 ELSE there_score END
        WHEN 'mapped' THEN led_score
        WHEN 'replaced' THEN CASE WHEN elsewhere IS NULL THEN there_score WHEN digest_url IS NOT NULL THEN 1.0
            ELSE content_score END
        WHEN 'moved' THEN CASE WHEN digest_url IS NOT NULL THEN 1.0 ELSE content_score END END AS score,
    CASE WHEN verdict = 'lost' THEN coalesce(elsewhere, near)
        WHEN verdict = 'mapped' AND led_score < threshold() AND elsewhere <> bare(led_final) THEN elsewhere
        WHEN verdict = 'replaced' THEN elsewhere WHEN verdict = 'moved' THEN second_url END AS suggestion,
    cause, CASE WHEN is_ruled AND verdict <> 'moved' THEN rule ELSE own_rule END AS rule,
    CASE WHEN a.url IS NOT NULL OR f.url IS NOT NULL THEN coalesce(a.requests, 0)
        + CASE WHEN u.file_url <> u.url THEN coalesce(f.requests, 0) ELSE 0 END END AS requests
FROM caused_urls u LEFT JOIN asked_for a ON a.url = u.url LEFT JOIN asked_for f ON f.url = u.file_url
ORDER BY requests DESC NULLS LAST, u.url;

-- The documents of the new site, with the section that each is in.
CREATE OR REPLACE TABLE places AS
SELECT d.document, d.entity, coalesce(n.url, d.url) AS url,
    new_section(coalesce(n.url, d.url, '')) AS section
FROM new_documents d LEFT JOIN resources r ON r.side = 'new' AND r.document = d.document AND r.entity = d.entity
LEFT JOIN named n ON n.resource = r.resource;

-- Archives: their documents have a place in them, and none is the file itself.
CREATE OR REPLACE TEMP TABLE archives AS SELECT document FROM new_documents GROUP BY document HAVING min(entity) <> '';

CREATE OR REPLACE TABLE causes AS
WITH on_pages AS (
    SELECT f.* REPLACE (CASE WHEN f.entity = '' THEN f.document ELSE f.document || '/' || f.entity END AS document),
        CASE WHEN a.document IS NULL THEN f.document ELSE coalesce(p.url, f.document || '/' || f.entity) END AS page
    FROM fixed_findings f LEFT JOIN archives a USING (document)
    LEFT JOIN (SELECT document, entity, any_value(url) AS url FROM places SEMI JOIN archives USING (document) GROUP BY ALL) p
        ON p.document = f.document AND p.entity = f.entity
), of_links AS (
    SELECT cause, verdict, count(*) AS links, count(DISTINCT page) AS pages,
        min({'document': document, 'line': line, 'column': "column", 'reference': reference}) AS example,
        shared(final) AS final, CASE WHEN count(fix) = count(*) THEN coalesce(shared(fix), shared(final)) END AS fix,
        coalesce(shared(suggestion), CASE WHEN count(near_folder) = count(suggestion) AND 2 * count(suggestion) >= count(*)
            AND min(near_folder) = max(near_folder) THEN min(near_folder) END) AS suggestion, shared(rule) AS rule, count(DISTINCT origin) AS targets, any_value(origin) AS origin
    FROM on_pages WHERE cause IS NOT NULL AND NOT starts_with(cause, 'rule:') GROUP BY cause, verdict
), of_urls AS (
    SELECT cause, c.verdict, count(*) AS pages, arg_min(c.url, (-coalesce(u.requests, 0), c.url)) AS url,
        shared(elsewhere) AS elsewhere,
        any_value(coalesce(folder_rule, CASE WHEN is_ruled AND c.verdict <> 'moved' THEN c.rule END)) AS rule,
        shared(near) AS near
    FROM caused_urls c JOIN (SELECT url, any_value(requests) AS requests FROM urls GROUP BY url) u USING (url) WHERE cause IS NOT NULL AND NOT starts_with(cause, 'rule:') GROUP BY cause, c.verdict
), of_dead AS ( -- what a rule breaks, and loses
    SELECT cause, sum(links)::BIGINT AS links, sum(pages)::BIGINT AS pages, max(final) AS final FROM (
        SELECT cause, count(*) AS links, count(DISTINCT page) AS pages, min(final) AS final
        FROM on_pages WHERE starts_with(cause, 'rule:') GROUP BY cause
        UNION ALL SELECT cause, 0, count(*), NULL FROM caused_urls WHERE starts_with(cause, 'rule:') GROUP BY cause)
    GROUP BY cause
), of_rules AS (
    SELECT cause, CASE WHEN problem IS NULL THEN 'wrong-rule' ELSE 'unread-rule' END AS verdict, count(*) AS pages,
        arg_min(file, (file, line)) AS file, arg_min(line, (file, line)) AS line, arg_min(text, (file, line)) AS text,
        any_value(finding) AS finding
    FROM rules WHERE cause IS NOT NULL GROUP BY ALL
)
SELECT cause, verdict, CASE
    WHEN cause = 'base' THEN 'The same reference was right in the old site: the base or the place of its page changed'
    WHEN cause = 'folder' THEN 'Lacks the folder of the site: ' || example.reference
    WHEN cause = 'folder-slash' THEN 'Lacks the slash behind the URL of the site: ' || example.reference
    WHEN cause = 'folder-twice' THEN 'The folder of the site is written twice: ' || example.reference
    WHEN cause = 'colon' THEN 'Browsers read the name as a scheme: ' || example.reference
    WHEN cause = 'slashes' THEN 'Browsers read the folder as a host: ' || example.reference
    WHEN cause = 'feed' THEN 'Feed readers take different bases, and it is there by one of them: ' || example.reference
    WHEN cause = 'include' THEN 'Relative in a file that pages of several folders include: ' || example.reference
    WHEN cause = 'not-found' THEN 'Relative in a page that servers send at any depth: ' || example.reference
    WHEN starts_with(cause, 'page:') THEN 'This is a page, and no picture: ' || substr(cause, 6)
    WHEN cause LIKE 'moved:%' THEN 'The target has moved: ' || substr(cause, 7)
    WHEN verdict IN ('malformed', 'unresolved', 'placeholder', 'divergent', 'relative') THEN m.title || example.reference
    WHEN verdict <> 'broken' THEN m.title || coalesce(origin, example.reference)
    WHEN rule IS NOT NULL THEN 'Dead redirect: ' || rule
    WHEN targets = 1 THEN 'Missing: ' || coalesce(origin, example.reference)
    ELSE 'Leads nowhere from ' || pages || ' pages: ' || example.reference END AS title,
    links, pages, example.document AS example_document, example.line AS example_line, example."column" AS example_column,
    example.reference AS example_reference, final, fix, suggestion, rule
FROM of_links LEFT JOIN meanings m ON m.name = verdict
UNION ALL
SELECT cause, verdict, CASE
    WHEN cause = 'all-to-home' THEN 'A rule leads many pages to the home page: search engines take that for lost'
    WHEN cause LIKE 'loop:%' THEN 'Redirect loop: ' || rule
    WHEN cause LIKE 'rule-to-nothing:%' THEN 'Dead redirect: ' || rule
    WHEN cause LIKE 'wrong-page:%' THEN 'A rule leads to another page: ' || rule
    WHEN verdict = 'moved' THEN 'Moved, without a rule: ' || substr(cause, 7)
    WHEN verdict = 'replaced' THEN 'The URL is there, but holds something else: ' || url
    ELSE 'Lost: ' || CASE pages WHEN 1 THEN url ELSE pages || ' URLs of ' || substr(cause, 6) END END,
    0, pages, url, NULL, NULL, NULL, elsewhere, NULL, near, rule
FROM of_urls
UNION ALL
SELECT cause, verdict, CASE WHEN NOT starts_with(cause, 'rule:') THEN m.title
    WHEN finding = 'loop' THEN 'Redirect loop: ' || substr(cause, 6)
    ELSE 'Dead redirect: ' || substr(cause, 6) END,
    coalesce(d.links, 0), coalesce(d.pages, r.pages), file, line, NULL, text, d.final, NULL, NULL,
    CASE WHEN r.pages = 1 THEN concat_ws(':', file, line) END
FROM of_rules r LEFT JOIN of_dead d USING (cause) LEFT JOIN meanings m ON m.name = cause
UNION ALL
SELECT cause, verdict, CASE WHEN cause = verdict THEN any_value(m.title)
    ELSE rtrim(any_value(m.title), '.') || ': ' || substr(cause, length(verdict) + 2) END,
    0, count(*), arg_min(coalesce(CASE WHEN a.document IS NULL THEN nullif(p.document, '') END, p.url, ''),
        (p.document, p.url, detail)), NULL, NULL,
    arg_min(detail, (p.document, p.url, detail)), NULL, NULL, NULL, NULL
FROM pages p LEFT JOIN meanings m ON m.name = verdict LEFT JOIN archives a ON a.document = p.document GROUP BY cause, verdict
ORDER BY links + pages DESC, cause, verdict;

CREATE OR REPLACE TABLE sections AS
WITH counts AS ( -- all links by the verdict that follows from their scope, without the findings, and these
    SELECT document, verdict, sum(links) AS links FROM (
        SELECT document, quiet_verdict(scope) AS verdict, links FROM tallies
        UNION ALL SELECT document, quiet_verdict(scope), -1 FROM findings
        UNION ALL SELECT document, verdict, 1 FROM findings)
    GROUP BY document, verdict HAVING sum(links) > 0
), of_links AS (
    SELECT p.section, c.verdict, sum(c.links)::BIGINT AS links, count(*) AS pages, 0 AS urls
    FROM counts c JOIN (SELECT document, any_value(section) AS section FROM places GROUP BY document) p
        ON p.document = c.document
    GROUP BY p.section, c.verdict
), of_pages AS (
    SELECT new_section(url), verdict, 0, count(*), 0
    FROM pages GROUP BY 1, 2
), of_urls AS (
    SELECT old_section(url), verdict, 0, 0, count(*)
    FROM urls GROUP BY 1, 2
)
SELECT * FROM of_links UNION ALL SELECT * FROM of_pages UNION ALL SELECT * FROM of_urls ORDER BY ALL;

CREATE OR REPLACE TABLE flows AS
SELECT old_section(url) AS old_section,
    CASE WHEN final IS NOT NULL THEN new_section(final) END AS new_section,
    verdict, count(*) AS urls
FROM urls GROUP BY ALL ORDER BY ALL;

CREATE OR REPLACE TABLE hosts AS
SELECT site_of(url) AS host, sum(links)::BIGINT AS links FROM asked
WHERE site_of(url) NOT IN (SELECT site FROM scopes WHERE side = 'new') AND site_of(url) <> ''
GROUP BY host ORDER BY links DESC, host;

CREATE OR REPLACE TABLE layers AS
SELECT base_layer, sum(links)::BIGINT AS links FROM tallies GROUP BY base_layer ORDER BY links DESC, base_layer;
