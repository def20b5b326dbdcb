-- The working tables that Python fills, and those of queries that run only where they have something to do: each takes
-- some milliseconds to plan, which is most of the time of a small audit.

CREATE OR REPLACE TABLE scopes (side VARCHAR, site VARCHAR, prefix VARCHAR, base VARCHAR, is_main BOOLEAN);
CREATE OR REPLACE TABLE located (
    side VARCHAR, url VARCHAR, site VARCHAR, path VARCHAR, key VARCHAR, resource BIGINT, there VARCHAR, variant VARCHAR,
    variant_resource BIGINT, is_ambiguous BOOLEAN, sent_to VARCHAR);
CREATE OR REPLACE TABLE respelled (url VARCHAR, key VARCHAR);
CREATE OR REPLACE TABLE wrapped (raw VARCHAR, url VARCHAR); -- the URL in the URL of a proxy
CREATE OR REPLACE TABLE instead (link BIGINT, url VARCHAR); -- the targets of links without the base element, or by another one

-- Where rules and servers lead.
CREATE OR REPLACE TABLE moves (
    url VARCHAR, final VARCHAR, hops BIGINT, loop BOOLEAN, gone BOOLEAN, served VARCHAR, rule VARCHAR, cause_rule VARCHAR,
    status BIGINT, is_sure BOOLEAN);
CREATE OR REPLACE TABLE led (
    url VARCHAR, is_loop BOOLEAN, is_gone BOOLEAN, rule VARCHAR, cause_rule VARCHAR, status BIGINT, hops BIGINT,
    final VARCHAR, resource BIGINT, is_outside BOOLEAN, is_old BOOLEAN);
CREATE OR REPLACE TABLE answered (target VARCHAR, verdict VARCHAR, final VARCHAR, hops BIGINT, is_sure BOOLEAN);
CREATE OR REPLACE TABLE answered_pages (url VARCHAR);
CREATE OR REPLACE TABLE working (url VARCHAR); -- URLs that servers have
CREATE OR REPLACE TABLE on_disk (id BIGINT, verdict VARCHAR); -- links to files that are not read

-- What the bytes of documents show.
CREATE OR REPLACE TABLE content_matches (old_resource BIGINT, new_resource BIGINT, score DOUBLE, second_resource BIGINT);
CREATE OR REPLACE TABLE pair_scores (old_resource BIGINT, new_resource BIGINT, score DOUBLE, names BIGINT);
CREATE OR REPLACE TABLE headings (resource BIGINT, h1 VARCHAR);
CREATE OR REPLACE TABLE closed (side VARCHAR, resource BIGINT, reason VARCHAR); -- to search engines
CREATE OR REPLACE TABLE sitemap_languages (document VARCHAR, page VARCHAR, alternate VARCHAR); -- LANGUAGE=URL
CREATE OR REPLACE TABLE metas (resource BIGINT, id BIGINT, target VARCHAR, name VARCHAR);

-- What follows for the URLs of the old site, and for links.
CREATE OR REPLACE TABLE judged_urls (
    resource BIGINT, url VARCHAR, file_url VARCHAR, is_page BOOLEAN, digest VARCHAR, size BIGINT, path VARCHAR,
    new_url VARCHAR, is_home BOOLEAN, led_url VARCHAR, is_ruled BOOLEAN, led_final VARCHAR, led_resource BIGINT,
    led_hops BIGINT, is_loop BOOLEAN, is_gone BOOLEAN, is_outside BOOLEAN, rule VARCHAR, dead_end VARCHAR,
    there_resource BIGINT, there VARCHAR, there_hops BIGINT, there_digest VARCHAR, there_is_page BOOLEAN,
    there_score DOUBLE, there_names BIGINT, led_score DOUBLE, led_names BIGINT, digest_resource BIGINT,
    digest_url VARCHAR, content_resource BIGINT, content_url VARCHAR, content_score DOUBLE, second_url VARCHAR,
    leads_home BOOLEAN, is_held_twice BOOLEAN, of_rule BIGINT, of_all BIGINT, verdict VARCHAR, elsewhere VARCHAR,
    moved_url VARCHAR);
CREATE OR REPLACE TABLE homes (url VARCHAR, resource BIGINT, new_resource BIGINT, verdict VARCHAR, final VARCHAR);
CREATE OR REPLACE TABLE missing_places (resource BIGINT, fragment VARCHAR, other_case VARCHAR);
CREATE OR REPLACE TABLE relocated (id BIGINT, final VARCHAR, new_resource BIGINT, cause VARCHAR, old_url VARCHAR);
CREATE OR REPLACE TABLE in_menus (url VARCHAR); -- pages in the menus that scripts make
CREATE OR REPLACE TABLE included (fragment BIGINT, page BIGINT); -- by server-side includes, also in fragments
-- Relative links there: works in some folders only; in the topmost one.
CREATE OR REPLACE TABLE in_fragments (id BIGINT, is_mixed BOOLEAN, is_at_top BOOLEAN);
CREATE OR REPLACE TABLE forms (id BIGINT, form VARCHAR); -- of a new reference: full, path, dotted
CREATE OR REPLACE TABLE fixes (reference VARCHAR, base VARCHAR, final VARCHAR, form VARCHAR, fix VARCHAR);
CREATE OR REPLACE TABLE language_findings (url VARCHAR, document VARCHAR, detail VARCHAR);

-- What is left out, suggested, and called by one name.
CREATE OR REPLACE TABLE ignored (pattern BIGINT, links BIGINT, others BIGINT);
CREATE OR REPLACE TABLE left_out (number BIGINT);
CREATE OR REPLACE TABLE unchanged (document VARCHAR);
CREATE OR REPLACE TABLE removed (url VARCHAR);
CREATE OR REPLACE TABLE near_links (url VARCHAR, suggestion VARCHAR);
CREATE OR REPLACE TABLE near_urls (url VARCHAR, suggestion VARCHAR);
CREATE OR REPLACE TABLE folders (url VARCHAR, cause VARCHAR, rule VARCHAR, own VARCHAR);
CREATE OR REPLACE TABLE missing_folders (url VARCHAR, folder VARCHAR);
CREATE OR REPLACE TABLE meanings (name VARCHAR, title VARCHAR);
