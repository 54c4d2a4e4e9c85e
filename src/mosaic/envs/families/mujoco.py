"""MuJoCo environments. Key maps have a pair of keys for each joint."""

from mosaic.envs.entries import EnvironmentEntry, Family
from mosaic.envs.families import mujoco_fields as fields
from mosaic.envs.key_map_builders import joint_keys, slider_keys

FAMILY = Family(
    id="mujoco",
    title="MuJoCo",
    summary="Robots that hop, walk, swim and reach, simulated with MuJoCo.",
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
_HUMANOID_JOINTS = (
    *("abdomen y", "abdomen z", "abdomen x"),
    *("right hip x", "right hip z", "right hip y", "right knee"),
    *("left hip x", "left hip z", "left hip y", "left knee"),
    *("right shoulder 1", "right shoulder 2", "right elbow"),
    *("left shoulder 1", "left shoulder 2", "left elbow"),
)
_HUMANOID_OBSERVATION = (
    "348 values: joint positions and velocities, mass and inertia of the body parts,"
    " actuator forces and external forces."
)
_HUMANOID_OBSERVATION_FIELDS = (
    fields.exclude_positions(),
    fields.include_in_observation(
        "include_cinert_in_observation", "mass and inertia of the body parts"
    ),
    fields.include_in_observation(
        "include_cvel_in_observation", "the velocities of the body parts"
    ),
    fields.include_in_observation("include_qfrc_actuator_in_observation", "the actuator forces"),
    fields.include_in_observation("include_cfrc_ext_in_observation", "the external forces"),
)

ENTRIES = (
    EnvironmentEntry(
        env_id="Ant-v5",
        family="mujoco",
        title="Ant",
        summary="A quadruped robot with two joints per leg.",
        goal="Walk forward, along the x axis, as fast as possible.",
        observation=(
            "105 values: height and orientation of the torso, joint angles, velocities"
            " and contact forces."
        ),
        actions="Eight torques from -1 to 1, at the hip and ankle of each leg.",
        action_meanings=_ANT_JOINTS,
        rewards=(
            "Forward velocity plus 1 for being healthy,"
            " minus 0.5 times the squared torques and a small contact cost."
        ),
        ends="When the torso is below 0.2 m or above 1 m, or after 1,000 steps.",
        action_kind="continuous",
        fields=(
            fields.forward_weight(),
            fields.control_weight(0.5),
            fields.contact_weight(5e-4),
            fields.healthy_reward(1.0),
            fields.terminate_when_unhealthy(),
            *fields.healthy_height(0.2, 1.0),
            fields.reset_noise(0.1),
            fields.exclude_positions(),
            fields.include_in_observation("include_cfrc_ext_in_observation", "the contact forces"),
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
        summary="A planar cheetah with a front and a back leg.",
        goal="Run to the right as fast as possible.",
        observation=("17 values: height and angle of the body, joint angles, and velocities."),
        actions="Six torques from -1 to 1, at thigh, shin and foot of both legs.",
        action_meanings=_CHEETAH_JOINTS,
        rewards="Forward velocity minus 0.1 times the squared torques.",
        ends="After 1,000 steps. The episode never terminates.",
        action_kind="continuous",
        fields=(
            fields.forward_weight(),
            fields.control_weight(0.1),
            fields.reset_noise(0.1),
            fields.exclude_positions(),
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
        summary="A planar robot with one leg.",
        goal="Hop to the right as fast as possible without falling.",
        observation=("11 values: height and angle of the torso, joint angles, and velocities."),
        actions="Three torques from -1 to 1, at thigh, leg and foot.",
        action_meanings=_LEG,
        rewards=(
            "Forward velocity plus 1 for being healthy, minus 0.001 times the squared torques."
        ),
        ends=(
            "When the torso is below 0.7 m, its angle exceeds 0.2 rad or the state diverges,"
            " or after 1,000 steps."
        ),
        action_kind="continuous",
        fields=(
            fields.forward_weight(),
            fields.control_weight(1e-3),
            fields.healthy_reward(1.0),
            fields.terminate_when_unhealthy(),
            *fields.healthy_angle(0.2),
            fields.reset_noise(5e-3),
            fields.exclude_positions(),
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
        summary="A humanoid robot with 17 actuators.",
        goal="Walk forward, along the x axis, as fast as possible without falling.",
        observation=_HUMANOID_OBSERVATION,
        actions="17 torques from -0.4 to 0.4, at abdomen, hips, knees, shoulders and elbows.",
        action_meanings=_HUMANOID_JOINTS,
        rewards=(
            "1.25 times the forward velocity plus 5 for being healthy,"
            " minus 0.1 times the squared torques and a small contact cost."
        ),
        ends="When the torso is below 1 m or above 2 m, or after 1,000 steps.",
        action_kind="continuous",
        fields=(
            fields.forward_weight(1.25),
            fields.control_weight(0.1),
            fields.contact_weight(5e-7),
            fields.healthy_reward(5.0),
            fields.terminate_when_unhealthy(),
            *fields.healthy_height(1.0, 2.0),
            fields.reset_noise(0.01),
            *_HUMANOID_OBSERVATION_FIELDS,
            *fields.simulation(5),
        ),
        pairs=(fields.HEALTHY_Z,),
        ranges=(fields.HEALTHY_Z.fields,),
        keys=joint_keys(_HUMANOID_JOINTS, -0.4, 0.4),
        render_fps=67,
        max_episode_steps=1000,
    ),
    EnvironmentEntry(
        env_id="HumanoidStandup-v5",
        family="mujoco",
        title="Humanoid Standup",
        summary="A humanoid robot that lies on its back.",
        goal="Stand up and keep standing.",
        observation=_HUMANOID_OBSERVATION,
        actions="17 torques from -0.4 to 0.4, at abdomen, hips, knees, shoulders and elbows.",
        action_meanings=_HUMANOID_JOINTS,
        rewards=(
            "Height of the torso divided by the simulation time step, plus 1,"
            " minus small control and impact costs."
        ),
        ends="After 1,000 steps. The episode never terminates.",
        action_kind="continuous",
        fields=(
            fields.control_weight(0.1),
            fields.weight("impact_cost_weight", 5e-7, "Weight of the impact cost."),
            fields.reset_noise(0.01),
            *_HUMANOID_OBSERVATION_FIELDS,
            *fields.simulation(5),
        ),
        keys=joint_keys(_HUMANOID_JOINTS, -0.4, 0.4),
        render_fps=67,
        max_episode_steps=1000,
    ),
    EnvironmentEntry(
        env_id="InvertedDoublePendulum-v5",
        family="mujoco",
        title="Inverted Double Pendulum",
        summary="Two poles on top of each other, on a cart that moves on a rail.",
        goal="Balance both poles by pushing the cart.",
        observation=(
            "Nine values: cart position, sine and cosine of the angles, velocities and a force."
        ),
        actions="One value: the force from -1 (left) to 1 (right).",
        action_meanings=("force",),
        rewards=("10 for each step upright, minus penalties for the tip's distance and velocity."),
        ends="When the tip is at most 1 m high, or after 1,000 steps.",
        action_kind="continuous",
        fields=(fields.healthy_reward(10.0), fields.reset_noise(0.1), *fields.simulation(5)),
        keys=slider_keys("force", 1.0),
        render_fps=20,
        max_episode_steps=1000,
    ),
    EnvironmentEntry(
        env_id="InvertedPendulum-v5",
        family="mujoco",
        title="Inverted Pendulum",
        summary="A pole on a cart that moves on a rail.",
        goal="Balance the pole by pushing the cart.",
        observation="Four values: cart position, pole angle, and the velocities of both.",
        actions="One value: the force from -3 (left) to 3 (right).",
        action_meanings=("force",),
        rewards="1 for each step in which the pole is upright.",
        ends="When the pole angle exceeds 0.2 rad, or after 1,000 steps.",
        action_kind="continuous",
        fields=(fields.reset_noise(0.01), *fields.simulation(2)),
        keys=slider_keys("force", 3.0),
        render_fps=25,
        max_episode_steps=1000,
    ),
    EnvironmentEntry(
        env_id="Pusher-v5",
        family="mujoco",
        title="Pusher",
        summary="A robot arm at a table with a cylinder on it.",
        goal="Push the cylinder to the goal position.",
        observation=(
            "23 values: joint angles and velocities, and the positions of fingertip, cylinder"
            " and goal."
        ),
        actions="Seven torques from -2 to 2, from the shoulder down to the wrist.",
        action_meanings=_PUSHER_JOINTS,
        rewards=(
            "Minus the distance from cylinder to goal, 0.5 times that from fingertip to cylinder,"
            " and 0.1 times the squared torques."
        ),
        ends="After 100 steps. The episode never terminates.",
        action_kind="continuous",
        fields=(
            fields.weight(
                "reward_near_weight", 0.5, "Weight of the distance from fingertip to cylinder."
            ),
            fields.weight(
                "reward_dist_weight", 1.0, "Weight of the distance from cylinder to goal."
            ),
            fields.weight("reward_control_weight", 0.1, "Weight of the control cost."),
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
        summary="A planar arm with two joints, and a random target within its reach.",
        goal="Move the fingertip to the target and keep it there.",
        observation=(
            "Ten values: cosine and sine of the joint angles, target position, velocities,"
            " and the vector from fingertip to target."
        ),
        actions="Two torques from -1 to 1, at shoulder and elbow.",
        action_meanings=("shoulder", "elbow"),
        rewards="Minus the distance from fingertip to target, minus the squared torques.",
        ends="After 50 steps. The episode never terminates.",
        action_kind="continuous",
        fields=(
            fields.weight("reward_dist_weight", 1.0, "Weight of the distance."),
            fields.weight("reward_control_weight", 1.0, "Weight of the control cost."),
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
        summary="A chain of three links in a viscous fluid.",
        goal="Swim to the right as fast as possible.",
        observation="Eight values: angles of the links, and velocities.",
        actions="Two torques from -1 to 1, at the joints between the links.",
        action_meanings=("first joint", "second joint"),
        rewards="Forward velocity minus 0.0001 times the squared torques.",
        ends="After 1,000 steps. The episode never terminates.",
        action_kind="continuous",
        fields=(
            fields.forward_weight(),
            fields.control_weight(1e-4),
            fields.reset_noise(0.1),
            fields.exclude_positions(),
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
        summary="A planar robot with two legs.",
        goal="Walk to the right as fast as possible without falling.",
        observation=("17 values: height and angle of the torso, joint angles, and velocities."),
        actions="Six torques from -1 to 1, at thigh, leg and foot of both legs.",
        action_meanings=_WALKER_JOINTS,
        rewards=(
            "Forward velocity plus 1 for being healthy, minus 0.001 times the squared torques."
        ),
        ends=(
            "When the torso is below 0.8 m or above 2 m or its angle exceeds 1 rad,"
            " or after 1,000 steps."
        ),
        action_kind="continuous",
        fields=(
            fields.forward_weight(),
            fields.control_weight(1e-3),
            fields.healthy_reward(1.0),
            fields.terminate_when_unhealthy(),
            *fields.healthy_height(0.8, 2.0),
            *fields.healthy_angle(1.0),
            fields.reset_noise(5e-3),
            fields.exclude_positions(),
            *fields.simulation(4),
        ),
        pairs=(fields.HEALTHY_Z, fields.HEALTHY_ANGLE),
        ranges=(fields.HEALTHY_Z.fields, fields.HEALTHY_ANGLE.fields),
        keys=joint_keys(_WALKER_JOINTS, -1.0, 1.0),
        render_fps=125,
        max_episode_steps=1000,
    ),
)
