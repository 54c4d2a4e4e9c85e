"""BabyAI: language missions in MiniGrid rooms."""

from mosaic.envs.entries import title_from_id
from mosaic.envs.families.minigrid_templates import grid_entry

_PREFIX = "BabyAI-"
_ENDS = "When the mission succeeds or fails, or after the maximum number of steps."

_MISSIONS = (
    ("GoToSeq", "Go to several objects in the given order."),
    ("GoTo", "Go to the object that the mission names."),
    ("Open", "Open the doors that the mission names."),
    ("UnblockPickup", "Unblock the path to the named object and pick it up."),
    ("Pickup", "Pick up the object that the mission names."),
    ("PutNext", "Put one object next to another."),
    ("MoveTwoAcross", "Move two objects to the other room."),
    ("KeyInBox", "Open the door; the key is in a box."),
    ("BlockedUnlockPickup", "Unblock and unlock the door, and pick up the box behind it."),
    ("UnlockToUnlock", "Unlock one door to get the key for the next."),
    ("UnlockPickup", "Unlock the door and pick up the box behind it."),
    ("Unlock", "Find the key and open the locked door."),
    ("ActionObjDoor", "Perform the named action on an object or a door."),
    ("FindObj", "Search the rooms for the object and pick it up."),
    ("KeyCorridor", "Find the key, unlock the room, and pick up the ball in it."),
    ("OneRoom", "Pick up the ball."),
)
"""Goals by prefix of the name; the first match applies."""
_ANY_MISSION = "Complete the mission: a sequence of go to, pick up, open and put next."

_NAMES = (
    "GoToRedBallGrey-v0 GoToRedBall-v0 GoToRedBallNoDists-v0 GoToObj-v0 GoToObjS4-v0 GoToObjS6-v1"
    " GoToLocal-v0 GoToLocalS5N2-v0 GoToLocalS6N2-v0 GoToLocalS6N3-v0 GoToLocalS6N4-v0"
    " GoToLocalS7N4-v0 GoToLocalS7N5-v0 GoToLocalS8N2-v0 GoToLocalS8N3-v0 GoToLocalS8N4-v0"
    " GoToLocalS8N5-v0 GoToLocalS8N6-v0 GoToLocalS8N7-v0 GoTo-v0 GoToOpen-v0 GoToObjMaze-v0"
    " GoToObjMazeOpen-v0 GoToObjMazeS4R2-v0 GoToObjMazeS4-v0 GoToObjMazeS5-v0 GoToObjMazeS6-v0"
    " GoToObjMazeS7-v0 GoToImpUnlock-v0 GoToSeq-v0 GoToSeqS5R2-v0 GoToRedBlueBall-v0 GoToDoor-v0"
    " GoToObjDoor-v0 Open-v0 OpenRedDoor-v0 OpenDoor-v0 OpenDoorDebug-v0 OpenDoorColor-v0"
    " OpenDoorLoc-v0 OpenTwoDoors-v0 OpenRedBlueDoors-v0 OpenRedBlueDoorsDebug-v0"
    " OpenDoorsOrderN2-v0 OpenDoorsOrderN4-v0 OpenDoorsOrderN2Debug-v0 OpenDoorsOrderN4Debug-v0"
    " Pickup-v0 UnblockPickup-v0 PickupLoc-v0 PickupDist-v0 PickupDistDebug-v0 PickupAbove-v0"
    " PutNextLocal-v0 PutNextLocalS5N3-v0 PutNextLocalS6N4-v0 PutNextS4N1-v0 PutNextS5N2-v0"
    " PutNextS5N1-v0 PutNextS6N3-v0 PutNextS7N4-v0 PutNextS5N2Carrying-v0 PutNextS6N3Carrying-v0"
    " PutNextS7N4Carrying-v0 Unlock-v0 UnlockLocal-v0 UnlockLocalDist-v0 KeyInBox-v0"
    " UnlockPickup-v0 UnlockPickupDist-v0 BlockedUnlockPickup-v0 UnlockToUnlock-v0"
    " ActionObjDoor-v0 FindObjS5-v0 FindObjS6-v0 FindObjS7-v0 KeyCorridor-v0 KeyCorridorS3R1-v0"
    " KeyCorridorS3R2-v0 KeyCorridorS3R3-v0 KeyCorridorS4R3-v0 KeyCorridorS5R3-v0"
    " KeyCorridorS6R3-v0 OneRoomS8-v0 OneRoomS12-v0 OneRoomS16-v0 OneRoomS20-v0"
    " MoveTwoAcrossS5N2-v0 MoveTwoAcrossS8N9-v0 Synth-v0 SynthS5R2-v0 SynthLoc-v0 SynthSeq-v0"
    " MiniBossLevel-v0 BossLevel-v0 BossLevelNoUnlock-v0"
)


def _goal(name: str) -> str:
    return next((goal for prefix, goal in _MISSIONS if name.startswith(prefix)), _ANY_MISSION)


ENTRIES = tuple(
    grid_entry(
        env_id=f"{_PREFIX}{name}",
        title=f"BabyAI: {title_from_id(name)}",
        summary="Rooms with doors and objects, and a mission in natural language.",
        goal=_goal(name),
        ends=_ENDS,
    )
    for name in _NAMES.split()
)
