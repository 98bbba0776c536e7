"""``python -m atkay``: the shell."""

from atkay.cli.app import main

main()
