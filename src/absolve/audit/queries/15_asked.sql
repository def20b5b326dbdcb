-- asked: one row for each distinct target of the links of the new site, with what counts of all these links.

-- Claims of a base are no links here.
CREATE OR REPLACE VIEW links_in AS
    SELECT *, list_contains(problems, 'insecure') AS is_insecure
    FROM new_all_links l ANTI JOIN no_pages n
        ON n.side = 'new' AND n.document = l.document AND starts_with(l.entity, n.entity)
    WHERE NOT (element = 'base' AND attribute = 'href') AND attribute NOT IN ('xml:base', 'codebase')
    AND NOT (element = 'header' AND attribute IN ('base', 'content-base', 'content-location'));

CREATE OR REPLACE TABLE asked AS
    SELECT target, bare(target) AS url, fragment_of(target) AS fragment, count(*) AS links,
        bool_or(is_placed(reference, base_layer) OR names_own(element, attribute, target)) AS is_placed,
        min(hash(document)) AS first_document, max(hash(document)) AS last_document -- whether it is one document only
    FROM links_in WHERE target IS NOT NULL AND (scope <> 'other' OR is_local(target))
    GROUP BY target;

-- The links of each document, by all that decides about those that are no findings.
CREATE OR REPLACE TABLE tallies AS
    SELECT document, scope, base_layer, count(*) AS links FROM links_in GROUP BY ALL;

CREATE OR REPLACE TABLE wanted AS SELECT 'new' AS side, url FROM asked;
