"""
The warm host: a process for each Python root forks a template for each module, and that one a child for each call.

    worker -- spawns --> host -- forks --> template (imports the module once) -- forks --> call (runs the tool once)

A module that crashes, hangs or exits while it is imported takes only its own template down. Every forked process has
pipes of its own. In the open, a call is a process by itself: `plain.py`. Standard library only, and as little of it as possible:
what is imported here is in the memory of every call.
"""
