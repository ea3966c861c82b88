"""Fixtures of this folder."""

from __future__ import annotations

from published import published

__all__ = ["published"]
