"""The whole story on one machine, with an emulated GitHub."""
