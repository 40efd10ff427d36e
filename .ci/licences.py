"""Lists the licence of everything that is installed, by what each package says of itself.

Run by `make audit`.
"""

from collections import defaultdict
from importlib.metadata import Distribution, distributions


def licence(package: Distribution) -> str:
    """The licence that a package names.

    Its expression, else its classifiers, else the first line of its own words.
    """
    told = package.metadata
    classified = [
        line.rpartition(" :: ")[2]
        for line in told.get_all("Classifier") or ()
        if line.startswith("License :: ")
    ]
    own = (told.get("License") or "").strip().partition("\n")[0][:60]
    return told.get("License-Expression") or ", ".join(sorted(classified)) or own or "none named"


def main() -> None:
    """Prints the packages of each licence."""
    found: dict[str, set[str]] = defaultdict(set)
    for package in distributions():
        found[licence(package)].add(f"{package.metadata['Name']} {package.version}")
    for name, packages in sorted(found.items()):
        print(f"{name}: {', '.join(sorted(packages, key=str.casefold))}")


if __name__ == "__main__":
    main()
