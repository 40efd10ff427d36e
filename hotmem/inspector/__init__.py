"""`hotmem inspect`: local web pages to view, edit and delete what is stored about a user.

`site` has the shared state, `guard` controls access, `pages` has one module per page, and `changes`
has the form actions. Pages are rendered on the server and use no scripts. It needs ``pip install
"pipecat-hotmem[inspect]"``.
"""
