"""Durable storage: engines, queries and search indexes."""
