// What a coach does: it sets a learner's goals, one lesson at a time, and judges the outcome.
//
// Beliefs: learner(Address), target(T), lesson(Episodes), evaluation(N).
// The learner tells:
//   trained(N, R)     N episodes are trained in all; R of the last 100 succeeded
//   scored(N, R, M)   an evaluation of N episodes: success rate and mean return
//
// Actions: .send(Address, achieve or tell, Term)  .done("why")

// So many episodes in all, in lessons.

@first_lesson
+!train(Goal) : lesson(L)
   <- +wanted(Goal);
      !teach(L).

// Until an evaluation shows that the goal is reached.

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

@lesson_is_over
+trained(N, R)
   <- -trained(N, R);
      !after_lesson(N, R);
      -+done(N).

// Not one episode more than after the last lesson: the learner has used up what the run gives it.
@nothing_left
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

@content
+scored(N, R, M) : target(T) & R >= T
   <- .done("the learner has reached the goal").

@not_yet
+scored(N, R, M) : ambitious & wanted(Goal) & done(Done) & Done < Goal & lesson(L)
   <- -scored(N, R, M);
      !teach(Done + L).

@time_is_up
+scored(N, R, M)
   <- .done("the lessons are over").
