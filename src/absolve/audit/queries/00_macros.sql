-- Parts of URLs. The functions normal, site_of and key_of are those of urls/identity and of the server.

CREATE OR REPLACE MACRO path_of(url) AS
    coalesce(nullif(regexp_extract(url, '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*([^?#]*)', 1), ''), '/');

CREATE OR REPLACE MACRO query_of(url) AS
    CASE WHEN contains(url, '?') THEN split_part(substr(url, instr(url, '?') + 1), '#', 1) END;

-- split_part would be shorter: DuckDB 2.0.0 fails where its result is compared and its argument is always NULL.
CREATE OR REPLACE MACRO bare(url) AS
    CASE WHEN contains(url, '#') THEN substr(url, 1, instr(url, '#') - 1) ELSE url END;

CREATE OR REPLACE MACRO fragment_of(url) AS
    CASE WHEN contains(url, '#') THEN substr(url, instr(url, '#') + 1) END;

-- What differs in letter case, final slash or Unicode form only has the same loose key.
CREATE OR REPLACE MACRO loose(key) AS lower(nfc_normalize(rtrim(key, '/')));

CREATE OR REPLACE MACRO without_scheme(url) AS regexp_replace(url, '^https?:', '');

CREATE OR REPLACE MACRO with_fragment(url, fragment) AS
    CASE WHEN fragment IS NULL OR contains(url, '#') THEN url ELSE url || '#' || fragment END;

-- A Content-ID (RFC 2392): the scope of one that no part of the message has is `other`.
CREATE OR REPLACE MACRO names_part(target) AS starts_with(target, 'cid:');

-- The verdict of a link that is no finding.
CREATE OR REPLACE MACRO quiet_verdict(scope) AS
    CASE scope WHEN 'other' THEN 'external' WHEN 'external' THEN 'external' WHEN 'same-document' THEN 'same' ELSE 'ok' END;

-- A reference with the mark of a template inside, which no program has filled in.
CREATE OR REPLACE MACRO is_template(document, reference) AS regexp_matches(reference, '\{\{|\{[%$]|\$\{|<[?%]|<!--#|\[[%\[]')
    OR contains(reference, '{') AND regexp_matches(document, '\.(svelte|astro)$');

-- A URL on a network that no visitor reaches (RFC 6890, RFC 6761, RFC 6762, RFC 8375; of IPv6 all but RFC 4291 2.4).
CREATE OR REPLACE MACRO is_private(url) AS regexp_matches(lower(url), '^(blob:)?https?://([^/?#]*@)?(([^/?#:]*\.)?'
    || '(local|localdomain|test|internal|intranet|private|corp|home|lan|home\.arpa)|(10|2(2[4-9]|[345][0-9]))(\.[0-9]+){3}'
    || '|(192\.168|172\.(1[6-9]|2[0-9]|3[01])|100\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])|198\.1[89])(\.[0-9]+){2}'
    || '|(192\.0\.[02]|192\.88\.99|198\.51\.100|203\.0\.113)\.[0-9]+'
    || '|\[([^23\]][^\]]*|[23][0-9a-f]{0,2}:[^\]]*|(2001:(db8|0|)|2002|3ff[0-9a-f]):[^\]]*)\])\.?(:[0-9]*)?([/?#]|$)');

-- A URL that only the machine finds on which the site was made, or its network, unless the site itself is on one.
CREATE OR REPLACE MACRO is_local(url) AS regexp_matches(lower(url), '^(file:|[a-z]:[\\/]|(blob:)?https?://([^/?#]*@)?'
    || '(([^/?#:]*\.)?localhost|(127|169\.254|0)\.[0-9.]+|\[(::|::1|::ffff:(7f[0-9a-f]{2}|a9fe|0):[0-9a-f]+|fe[89ab][^\]]*)\])'
    || '\.?(:[0-9]*)?([/?#]|$))') OR is_private(url) AND NOT has_private_site();

-- A host that nobody can have, because a template has put the URL of the site before a URL or a name, without a slash:
-- https://h.examplehttps://h.example/ (the port is empty), https://h.exampleindex.html.
CREATE OR REPLACE MACRO is_glued(url) AS regexp_matches(url, '^https?://((https?|[^/?#]*\.[^/?#]*https?)//|'
    || '[^/?#@:]*\.(html?|php|aspx?|jsp|png|jpe?g|gif|svg|webp|css|js|xml|pdf)(:[0-9]*)?([/?#]|$))');
CREATE OR REPLACE MACRO unglued(url) AS nullif(regexp_replace(url, '^https?://[^?#]*(https?)//', '\1://'), url);

-- Whether a reference has neither a scheme nor a host.
CREATE OR REPLACE MACRO is_relative(reference) AS NOT regexp_matches(reference, '^[\x00-\x20]*([A-Za-z][A-Za-z0-9+.-]*:|//|$)');

-- A URL at the place that an audit gives to files without one: it is judged by the files around them.
CREATE OR REPLACE MACRO is_assumed(url) AS starts_with(url, 'http://localhost/')
    AND EXISTS (FROM new_documents WHERE url_source = 'assumed');

-- A reference that names its host, however it is spelled.
CREATE OR REPLACE MACRO names_host(reference) AS regexp_matches(reference, '^[\x00-\x20]*([Hh][Tt][Tt][Pp][Ss]?:)?[/\\]{2}');

-- A relative reference that begins as the name of a host does.
CREATE OR REPLACE MACRO names_bare_host(reference) AS
    regexp_matches(reference, '^(www\.[a-z0-9-]+\.[a-z]|([a-z0-9-]+\.)+(com|edu|gov|io|net|org)([/?#]|$))');

-- Codes of hreflang: of the languages with two letters those of ISO 639-1, a script, a region (BCP 47 2.2); UK is no region.
CREATE OR REPLACE MACRO is_language(code) AS code = 'x-default'
    OR regexp_full_match(code, '[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?') AND NOT ends_with(code, '-uk')
    AND (length(split_part(code, '-', 1)) = 3 OR list_contains(string_split(
        'aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es '
        || 'et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki '
        || 'kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no '
        || 'nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te '
        || 'tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu', ' '), split_part(code, '-', 1)));

CREATE OR REPLACE MACRO is_error_page(url) AS regexp_matches(url, '/(404|403|500|50x|error)(\.html?)?$');

-- A reference that gets its folder from a template or a base element: either may lack the folder of the site.
CREATE OR REPLACE MACRO is_placed(reference, base_layer) AS NOT starts_with(reference, '//')
    AND (starts_with(reference, '/') OR base_layer = 'embedded' AND NOT regexp_matches(reference, '^[A-Za-z][A-Za-z0-9+.-]*:'));

-- A full URL that is one of the site itself: in a sitemap, and of a feed's items, whose channel may be another site.
CREATE OR REPLACE MACRO names_own(element, attribute, target) AS
    element = 'loc' OR element IN ('link', 'guid') AND attribute = '' AND path_of(target) <> '/';

-- The folder of a path, with its final slash.
CREATE OR REPLACE MACRO folder_of(path) AS regexp_extract(path, '^(.*/)', 1);

-- The record, entry or message that a page is the body of: its header fields are about the page.
CREATE OR REPLACE MACRO answer_of(entity) AS
    CASE WHEN ends_with(entity, 'body[1]') THEN rtrim(entity[:-8], '/') ELSE entity END;

-- What is equal for two names of a place: in Markdown any case, and what GitHub and Bitbucket add or leave out; Jupyter keeps punctuation and case,
-- Quarto and R Markdown (pandoc) begin with a letter, and have one hyphen for several.
CREATE OR REPLACE MACRO name_key(place, media_type, path) AS CASE
    WHEN media_type = 'application/x-ipynb+json' THEN regexp_replace(lower(place), '[^\p{L}\p{M}\p{N}_-]', '', 'g')
    WHEN media_type = 'text/markdown' AND regexp_matches(lower(path), '\.(qmd|rmd)$')
        THEN regexp_replace(regexp_replace(regexp_replace(lower(place), '[.]', '', 'g'), '-+', '-', 'g'), '^[^\p{L}]+', '')
    -- one for all generators: case, accents, punctuation, and the mark of a number differ (a--b, a-b; details-1, details_1)
    WHEN media_type = 'text/markdown' AND is_built()
        THEN trim(regexp_replace(strip_accents(lower(place)), '[^\p{L}\p{N}]+', '-', 'g'), '-')
    WHEN media_type = 'text/markdown' THEN regexp_replace(lower(place), '^(user-content-|markdown-header-)|\x{FE0F}', '', 'g')
    ELSE place END;

-- The folder in which `near` is what `rest` is in another one.
CREATE OR REPLACE MACRO without_index(url) AS regexp_replace(url, '(^|/)index\.html?$', '\1');
CREATE OR REPLACE MACRO folder_in(near, rest) AS CASE WHEN ends_with(without_index(near), without_index(rest))
    THEN left(near, length(without_index(near)) - length(without_index(rest))) END;

-- What all rows of a group have: the repair of one is none of the others.
CREATE OR REPLACE MACRO shared(x) AS CASE WHEN count(x) = count(*) AND min(x) = max(x) THEN min(x) END;
