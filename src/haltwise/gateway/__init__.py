"""Enforcement in front of any model API: a proxy that decides on every request that passes.

Needs the extra ``gateway``: pip install 'haltwise[gateway]'
"""
