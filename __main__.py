"""`python -m raidsim`: the command line without the installed script."""

from .cli.main import main

main()
