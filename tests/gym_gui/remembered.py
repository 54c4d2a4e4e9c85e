"""What a window remembers, in memory: for tests of models that are given a `Memory`."""


class Remembered(dict[str, str]):
    def text(self, key: str, default: str = "") -> str:
        return self.get(key, default)

    def set(self, key: str, value: str) -> None:
        self[key] = value
