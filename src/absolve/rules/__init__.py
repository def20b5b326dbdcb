"""Rules that move URLs: maps in the syntax of each server, tables of people, and where a URL leads by them.

`model` has the rules, `forms` reads a map of any form, `outcomes` follows URLs, `writing` writes maps. No module of it
knows which pages exist: the caller passes a predicate. A rewrite takes the tables, the index and the functions of URLs.
"""
