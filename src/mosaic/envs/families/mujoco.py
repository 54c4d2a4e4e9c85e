"""MuJoCo: robots with joints, in three dimensions. Each joint has a pair of keys."""

from mosaic.envs.entries import EnvironmentEntry, Family
from mosaic.envs.families import mujoco_fields as fields
from mosaic.envs.key_map_builders import joint_keys, slider_keys

FAMILY = Family(
    id="mujoco",
    title="MuJoCo",
    summary="Robots that hop, walk, swim and reach, in an exact simulation of joints and contacts.",
    module="mujoco",
    extra="mujoco",
)

_LEG = ("thigh", "leg", "foot")
_CHEETAH_JOINTS = (
    *("back thigh", "back shin", "back foot"),
    *("front thigh", "front shin", "front foot"),
)
_WALKER_JOINTS = (*(f"right {part}" for part in _LEG), *(f"left {part}" for part in _LEG))
_ANT_JOINTS = (
    *("back right hip", "back right ankle", "front left hip", "front left ankle"),
    *("front right hip", "front right ankle", "back left hip", "back left ankle"),
)
_PUSHER_JOINTS = (
    *("shoulder pan", "shoulder lift", "shoulder roll", "elbow flex"),
    *("forearm roll", "wrist flex", "wrist roll"),
)
_HUMAN_JOINTS = (
    *("abdomen y", "abdomen z", "abdomen x"),
    *("right hip x", "right hip z", "right hip y", "right knee"),
    *("left hip x", "left hip z", "left hip y", "left knee"),
    *("right shoulder 1", "right shoulder 2", "right elbow"),
    *("left shoulder 1", "left shoulder 2", "left elbow"),
)
_HUMAN_OBSERVATION = (
    "348 numbers: positions and speeds of all joints, how mass is spread over the body,"
    " and the forces in and on it."
)
_HUMAN_OBSERVATION_FIELDS = (
    fields.hides_position(),
    fields.shows("include_cinert_in_observation", "mass and inertia of the parts"),
    fields.shows("include_cvel_in_observation", "the speeds of the parts"),
    fields.shows("include_qfrc_actuator_in_observation", "the forces of the motors"),
    fields.shows("include_cfrc_ext_in_observation", "the forces from outside"),
)

ENTRIES = (
    EnvironmentEntry(
        env_id="Ant-v5",
        family="mujoco",
        title="Ant",
        summary="A robot with four legs of two joints each.",
        goal="Walk ahead, along the x axis, as fast as possible without tipping over.",
        observation=(
            "105 numbers: height and direction of the torso, angles of the joints, all speeds,"
            " and the contact forces."
        ),
        actions="Eight torques from -1 to 1, at the hip and ankle of each leg.",
        action_meanings=_ANT_JOINTS,
        rewards=(
            "The speed ahead and 1 for being healthy,"
            " minus half of the torques squared and a little for hard contacts."
        ),
        ends="When the torso is below 0.2 or above 1 metre, or after 1,000 steps.",
        action_kind="continuous",
        fields=(
            fields.forward_weight(),
            fields.control_weight(0.5),
            fields.contact_weight(5e-4),
            fields.healthy_reward(1.0),
            fields.health_ends(),
            *fields.healthy_height(0.2, 1.0),
            fields.start_noise(0.1),
            fields.hides_position(),
            fields.shows("include_cfrc_ext_in_observation", "the contact forces"),
            *fields.simulation(5),
        ),
        pairs=(fields.HEALTHY_Z,),
        ranges=(fields.HEALTHY_Z.fields,),
        keys=joint_keys(_ANT_JOINTS, -1.0, 1.0),
        render_fps=20,
        max_episode_steps=1000,
    ),
    EnvironmentEntry(
        env_id="HalfCheetah-v5",
        family="mujoco",
        title="Half Cheetah",
        summary="A flat cheetah with one front and one back leg.",
        goal="Run to the right as fast as possible.",
        observation=(
            "17 numbers: height and angle of the body, angles of the joints, and all speeds."
        ),
        actions="Six torques from -1 to 1, at thigh, shin and foot of the back and the front leg.",
        action_meanings=_CHEETAH_JOINTS,
        rewards="The speed to the right, minus a tenth of the torques squared.",
        ends="After 1,000 steps. It cannot fail.",
        action_kind="continuous",
        fields=(
            fields.forward_weight(),
            fields.control_weight(0.1),
            fields.start_noise(0.1),
            fields.hides_position(),
            *fields.simulation(5),
        ),
        keys=joint_keys(_CHEETAH_JOINTS, -1.0, 1.0),
        render_fps=20,
        max_episode_steps=1000,
    ),
    EnvironmentEntry(
        env_id="Hopper-v5",
        family="mujoco",
        title="Hopper",
        summary="A flat robot with a single leg.",
        goal="Hop to the right as fast as possible without falling.",
        observation=(
            "11 numbers: height and angle of the torso, angles of the joints, and all speeds."
        ),
        actions="Three torques from -1 to 1, at thigh, leg and foot.",
        action_meanings=_LEG,
        rewards=(
            "The speed to the right and 1 for being healthy, minus 0.001 of the torques squared."
        ),
        ends=(
            "When the torso is below 0.7 metres, leans more than 0.2 radians or moves wildly,"
            " or after 1,000 steps."
        ),
        action_kind="continuous",
        fields=(
            fields.forward_weight(),
            fields.control_weight(1e-3),
            fields.healthy_reward(1.0),
            fields.health_ends(),
            *fields.healthy_angle(0.2),
            fields.start_noise(5e-3),
            fields.hides_position(),
            *fields.simulation(4),
        ),
        pairs=(fields.HEALTHY_ANGLE,),
        ranges=(fields.HEALTHY_ANGLE.fields,),
        keys=joint_keys(_LEG, -1.0, 1.0),
        render_fps=125,
        max_episode_steps=1000,
    ),
    EnvironmentEntry(
        env_id="Humanoid-v5",
        family="mujoco",
        title="Humanoid",
        summary="A body like a person's, with 17 motors.",
        goal="Walk ahead, along the x axis, as fast as possible without falling.",
        observation=_HUMAN_OBSERVATION,
        actions="17 torques from -0.4 to 0.4, at belly, hips, knees, shoulders and elbows.",
        action_meanings=_HUMAN_JOINTS,
        rewards=(
            "1.25 times the speed ahead and 5 for being healthy,"
            " minus a tenth of the torques squared and a little for hard contacts."
        ),
        ends="When the torso is below 1 or above 2 metres, or after 1,000 steps.",
        action_kind="continuous",
        fields=(
            fields.forward_weight(1.25),
            fields.control_weight(0.1),
            fields.contact_weight(5e-7),
            fields.healthy_reward(5.0),
            fields.health_ends(),
            *fields.healthy_height(1.0, 2.0),
            fields.start_noise(0.01),
            *_HUMAN_OBSERVATION_FIELDS,
            *fields.simulation(5),
        ),
        pairs=(fields.HEALTHY_Z,),
        ranges=(fields.HEALTHY_Z.fields,),
        keys=joint_keys(_HUMAN_JOINTS, -0.4, 0.4),
        render_fps=67,
        max_episode_steps=1000,
    ),
    EnvironmentEntry(
        env_id="HumanoidStandup-v5",
        family="mujoco",
        title="Humanoid Standup",
        summary="A body like a person's lies on its back.",
        goal="Stand up and stay up.",
        observation=_HUMAN_OBSERVATION,
        actions="17 torques from -0.4 to 0.4, at belly, hips, knees, shoulders and elbows.",
        action_meanings=_HUMAN_JOINTS,
        rewards=(
            "The height of the torso, divided by the time of a step of the physics, and 1."
            " Torques and hard contacts cost a little."
        ),
        ends="After 1,000 steps. It cannot fail.",
        action_kind="continuous",
        fields=(
            fields.control_weight(0.1),
            fields.weight("impact_cost_weight", 5e-7, "How much hard contacts cost."),
            fields.start_noise(0.01),
            *_HUMAN_OBSERVATION_FIELDS,
            *fields.simulation(5),
        ),
        keys=joint_keys(_HUMAN_JOINTS, -0.4, 0.4),
        render_fps=67,
        max_episode_steps=1000,
    ),
    EnvironmentEntry(
        env_id="InvertedDoublePendulum-v5",
        family="mujoco",
        title="Inverted Double Pendulum",
        summary="Two poles stand on each other, on a cart that runs on a rail.",
        goal="Keep both poles upright by pushing the cart.",
        observation=(
            "Nine numbers: place of the cart, angles as sine and cosine, speeds and a force."
        ),
        actions="One number from -1 (push left) to 1 (push right).",
        action_meanings=("force",),
        rewards=(
            "10 for each step upright, minus how far the tip is from its place and how fast it"
            " moves."
        ),
        ends="When the tip is no higher than 1 metre, or after 1,000 steps.",
        action_kind="continuous",
        fields=(fields.healthy_reward(10.0), fields.start_noise(0.1), *fields.simulation(5)),
        keys=slider_keys("force", 1.0),
        render_fps=20,
        max_episode_steps=1000,
    ),
    EnvironmentEntry(
        env_id="InvertedPendulum-v5",
        family="mujoco",
        title="Inverted Pendulum",
        summary="A pole stands on a cart that runs on a rail.",
        goal="Keep the pole upright by pushing the cart.",
        observation="Four numbers: place of the cart, angle of the pole, and the speeds of both.",
        actions="One number from -3 (push left) to 3 (push right).",
        action_meanings=("force",),
        rewards="1 for each step in which the pole stands.",
        ends="When the pole leans more than 0.2 radians, or after 1,000 steps.",
        action_kind="continuous",
        fields=(fields.start_noise(0.01), *fields.simulation(2)),
        keys=slider_keys("force", 3.0),
        render_fps=25,
        max_episode_steps=1000,
    ),
    EnvironmentEntry(
        env_id="Pusher-v5",
        family="mujoco",
        title="Pusher",
        summary="An arm like a person's stands at a table with a cylinder on it.",
        goal="Push the cylinder to the goal.",
        observation=(
            "23 numbers: angles and speeds of the joints, and the places of fingertip, cylinder and"
            " goal."
        ),
        actions="Seven torques from -2 to 2, from the shoulder down to the wrist.",
        action_meanings=_PUSHER_JOINTS,
        rewards=(
            "Minus the distance from cylinder to goal, half of that from fingertip to cylinder,"
            " and a tenth of the torques squared."
        ),
        ends="After 100 steps. It cannot fail.",
        action_kind="continuous",
        fields=(
            fields.weight("reward_near_weight", 0.5, "How much the fingertip's distance counts."),
            fields.weight("reward_dist_weight", 1.0, "How much the cylinder's distance counts."),
            fields.weight("reward_control_weight", 0.1, "How much strong actions cost."),
            *fields.simulation(5),
        ),
        keys=joint_keys(_PUSHER_JOINTS, -2.0, 2.0),
        render_fps=20,
        max_episode_steps=100,
    ),
    EnvironmentEntry(
        env_id="Reacher-v5",
        family="mujoco",
        title="Reacher",
        summary="A flat arm with two joints, and a target somewhere within its reach.",
        goal="Bring the fingertip to the target and keep it there.",
        observation=(
            "Ten numbers: angles as cosine and sine, where the target is, the speeds,"
            " and how far the fingertip is from the target."
        ),
        actions="Two torques from -1 to 1, at shoulder and elbow.",
        action_meanings=("shoulder", "elbow"),
        rewards="Minus the distance from fingertip to target, minus the torques squared.",
        ends="After 50 steps. It cannot fail.",
        action_kind="continuous",
        fields=(
            fields.weight("reward_dist_weight", 1.0, "How much the distance counts."),
            fields.weight("reward_control_weight", 1.0, "How much strong actions cost."),
            *fields.simulation(2),
        ),
        keys=joint_keys(("shoulder", "elbow"), -1.0, 1.0),
        render_fps=50,
        max_episode_steps=50,
    ),
    EnvironmentEntry(
        env_id="Swimmer-v5",
        family="mujoco",
        title="Swimmer",
        summary="Three links in a chain, in a thick liquid.",
        goal="Swim to the right as fast as possible.",
        observation="Eight numbers: the angles of the links, and all speeds.",
        actions="Two torques from -1 to 1, at the joints between the links.",
        action_meanings=("first joint", "second joint"),
        rewards="The speed to the right, minus 0.0001 of the torques squared.",
        ends="After 1,000 steps. It cannot fail.",
        action_kind="continuous",
        fields=(
            fields.forward_weight(),
            fields.control_weight(1e-4),
            fields.start_noise(0.1),
            fields.hides_position(),
            *fields.simulation(4),
        ),
        keys=joint_keys(("first joint", "second joint"), -1.0, 1.0),
        render_fps=25,
        max_episode_steps=1000,
    ),
    EnvironmentEntry(
        env_id="Walker2d-v5",
        family="mujoco",
        title="Walker 2D",
        summary="A flat robot with two legs.",
        goal="Walk to the right as fast as possible without falling.",
        observation=(
            "17 numbers: height and angle of the torso, angles of the joints, and all speeds."
        ),
        actions="Six torques from -1 to 1, at thigh, leg and foot of both sides.",
        action_meanings=_WALKER_JOINTS,
        rewards=(
            "The speed to the right and 1 for being healthy, minus 0.001 of the torques squared."
        ),
        ends=(
            "When the torso is below 0.8 or above 2 metres or leans more than 1 radian,"
            " or after 1,000 steps."
        ),
        action_kind="continuous",
        fields=(
            fields.forward_weight(),
            fields.control_weight(1e-3),
            fields.healthy_reward(1.0),
            fields.health_ends(),
            *fields.healthy_height(0.8, 2.0),
            *fields.healthy_angle(1.0),
            fields.start_noise(5e-3),
            fields.hides_position(),
            *fields.simulation(4),
        ),
        pairs=(fields.HEALTHY_Z, fields.HEALTHY_ANGLE),
        ranges=(fields.HEALTHY_Z.fields, fields.HEALTHY_ANGLE.fields),
        keys=joint_keys(_WALKER_JOINTS, -1.0, 1.0),
        render_fps=125,
        max_episode_steps=1000,
    ),
)
