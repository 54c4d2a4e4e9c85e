"""The Log tab: every log in one table, filtered, searched and copied."""
