-- Pictures, styles and scripts that nothing refers to, among the pages: a script may make the URL of one, so this is asked for.

INSERT INTO pages
SELECT r.url, r.document, 'unused', 'nothing refers to it' FROM resources r
JOIN scopes s ON s.side = 'new' AND s.site = r.site AND starts_with(r.path, s.prefix)
ANTI JOIN led_targets t ON t.resource = r.resource
WHERE r.side = 'new' AND r.query IS NULL AND r.path NOT IN ('/favicon.ico', '/apple-touch-icon.png')
AND regexp_matches(lower(r.path), '\.(css|m?js|png|jpe?g|gif|svg|webp|avif|ico|bmp|woff2?|ttf|otf|eot)$')
ORDER BY r.url;
