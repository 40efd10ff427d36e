"""What programs of tests import, in the process that they are forked from (`tests.warm`)."""

import hotmem.cli.app
import hotmem.cli.commands
import hotmem.models
import hotmem.pipecat
import hotmem.tools

__all__ = ["hotmem"]
