"""URLs that the user named: ask for them, within limits, and keep what every server answered.

Nothing else in absolve uses the network, and nothing here asks for what a document names.
"""
