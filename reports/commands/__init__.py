"""The commands of `relu-verify`, one file each: options, what is called, and what is printed.

What a command needs is imported when it runs, so that `relu-verify --help` is quick.
"""
