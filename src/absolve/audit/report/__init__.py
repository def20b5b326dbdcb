"""The report of an audit: one HTML file that needs no network, with its data as compressed JSON inside.

In: a `Source` of result tables. Out: the page. Texts of audited pages reach it as data only: jinja2 escapes texts in
the markup, scripts set `textContent`, and a Content-Security-Policy with hashes forbids every other script.
"""
