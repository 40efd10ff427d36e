"""What may be asked of a memory outright: keep this, find that.

The same operations for Python, a bot's model, MCP and the command line.
"""
