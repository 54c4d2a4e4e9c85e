"""Recorded episodes, played again in the bundle of their run by a helper process of the SDK."""
