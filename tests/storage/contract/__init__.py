"""The contract of a storage engine: every engine passes these tests.

They use `hotmem.storage.database` and the query functions only. To test another engine, add its
function to `ENGINES` in conftest.py.
"""
