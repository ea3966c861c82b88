"""Enforcement inside other people's agent frameworks: one file and one extra each.

An adapter turns a framework's messages into `haltwise.enforce.Message` values and a stop into the
framework's own structure: tools gone, answer demanded, nothing executed afterwards. What a message
means is decided in `haltwise.enforce` alone.
"""
