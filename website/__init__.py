"""How the documentation is made: generated pages, pictures and checks. Not part of the package."""
