-- The new place of a broken link is a sure repair, unless its fragment is not there.

UPDATE findings SET final = r.final, is_sure = r.is_sure, cause = r.cause
FROM (
    SELECT l.id, l.cause, m.fragment IS NULL AS is_sure,
        CASE WHEN m.fragment IS NULL THEN l.final ELSE bare(l.final) END AS final
    FROM relocated l LEFT JOIN missing_places m ON m.resource = l.new_resource AND m.fragment = fragment_of(l.final)
) r WHERE r.id = findings.id;
