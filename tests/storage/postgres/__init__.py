"""Tests of the PostgreSQL engine alone."""
