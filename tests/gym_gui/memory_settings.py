"""MemorySettings: `TextSettings` in memory."""


class MemorySettings(dict[str, str]):
    def text(self, key: str, default: str = "") -> str:
        return self.get(key, default)

    def set(self, key: str, value: str) -> None:
        self[key] = value
