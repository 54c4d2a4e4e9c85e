// Plans of a coach: it sets the goals of a learner, one lesson at a time, and evaluates the result.
//
// Beliefs: learner(Address), target(T), lesson(Episodes), evaluation(N).
// Messages from the learner:
//   trained(N, R)     N episodes are trained in total; success rate R over the last 100
//   scored(N, R, M)   result of an evaluation of N episodes: success rate and mean return
//
// Actions: .send(Address, achieve or tell, Term)  .done("why")

// Train a total number of episodes, in lessons.

@first_lesson
+!train(Goal) : lesson(L)
   <- +wanted(Goal);
      !teach(L).

// Train until an evaluation reaches the target.

@first_open_lesson
+!reach_goal : lesson(L)
   <- +ambitious;
      +wanted(10 * L);
      !teach(L).

@teach
+!teach(Upto) : learner(A)
   <- -+given(Upto);
      .send(A, achieve, train(Upto)).

// After a lesson.

@lesson_finished
+trained(N, R)
   <- -trained(N, R);
      !after_lesson(N, R);
      -+done(N).

// The same number of episodes as after the last lesson: the run has no episodes or steps left.
@no_episodes_left
+!after_lesson(N, R) : done(N)
   <- -ambitious;
      !test.

@test_early
+!after_lesson(N, R) : ambitious & target(T) & R >= 0.8 * T
   <- !test.

@next_lesson
+!after_lesson(N, R) : wanted(Goal) & N < Goal & lesson(L)
   <- !teach(N + L).

@test_at_the_end
+!after_lesson(N, R)
   <- !test.

@test
+!test : learner(A) & evaluation(E)
   <- .send(A, achieve, evaluate(E)).

// After an evaluation.

@goal_reached
+scored(N, R, M) : target(T) & R >= T
   <- .done("the learner has reached the goal").

@goal_not_reached
+scored(N, R, M) : ambitious & wanted(Goal) & done(Done) & Done < Goal & lesson(L)
   <- -scored(N, R, M);
      !teach(Done + L).

@lessons_finished
+scored(N, R, M)
   <- .done("all lessons are finished").
