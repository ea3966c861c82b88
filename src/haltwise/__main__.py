"""``python -m haltwise`` is the ``haltwise`` command."""

from .cli.main import main

main()
