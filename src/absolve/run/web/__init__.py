"""Request URLs that the user named, within limits, and keep the responses of all servers.

Nothing else in absolve uses the network, and nothing here asks for what a document names.
"""
