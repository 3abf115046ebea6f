"""`python -m bot` is the same as `issuewright`."""

from bot.cli import main

if __name__ == "__main__":
    main()
