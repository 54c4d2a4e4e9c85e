"""MemorySettings: `Settings` in memory."""


class MemorySettings(dict[str, str]):
    def text(self, key: str, default: str = "") -> str:
        return self.get(key, default)

    def number(self, key: str, default: int) -> int:
        return int(self.get(key, default))

    def flag(self, key: str, default: bool) -> bool:
        return self.get(key, "yes" if default else "no") == "yes"

    def set(self, key: str, value: str | int | bool) -> None:
        if isinstance(value, bool):
            value = "yes" if value else "no"
        self[key] = str(value)
