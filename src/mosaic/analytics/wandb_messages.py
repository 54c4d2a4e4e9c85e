"""The records of a `.wandb` file, as far as a person wants to see them without W&B.

The numbers are those of W&B's own `wandb_internal.proto`.
"""

from google.protobuf.message import DecodeError

from mosaic.analytics.declared_messages import declare

__all__ = ["DecodeError", "Record"]

Record = declare(
    "mosaic.wandb",
    {
        "Record": {
            "history": (2, "History"),
            "summary": (3, "Changes"),
            "config": (5, "Changes"),
            "run": (17, "Run"),
            "exit": (18, "Exit"),
            "header": (21, "Header"),
        },
        "Item": {"key": (1, "string"), "nested_key*": (2, "string"), "value_json": (16, "string")},
        "Changes": {"update*": (1, "Item"), "remove*": (2, "Item")},
        "Step": {"num": (1, "int64")},
        "History": {"item*": (1, "Item"), "step": (2, "Step")},
        "Time": {"seconds": (1, "int64"), "nanos": (2, "int32")},
        "Run": {
            "run_id": (1, "string"),
            "entity": (2, "string"),
            "project": (3, "string"),
            "config": (4, "Changes"),
            "summary": (5, "Changes"),
            "run_group": (6, "string"),
            "display_name": (8, "string"),
            "start_time": (17, "Time"),
        },
        "Exit": {"exit_code": (1, "int32")},
        "Version": {"producer": (1, "string")},
        "Header": {"version_info": (1, "Version")},
    },
    "Record",
)
