"""Memory tools: explicit operations such as store, search, edit, import and maintenance.

The same tools for Python, a bot's language model, MCP clients and the command line.
"""
