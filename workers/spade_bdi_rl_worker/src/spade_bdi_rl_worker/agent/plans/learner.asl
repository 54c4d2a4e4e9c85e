// Plans of a learner, alone or with a coach.
//
// Beliefs that the worker updates:
//   episodes(N), steps(N), progress(P)      progress of the run; P from 0 to 1
//   complete                                all requested episodes or steps are done
//   success_rate(R), mean_return(M)         over the last 100 episodes
//   exploration(E), td_error(D), coverage(C)
//   evaluated(N, R, M)                      the last evaluation: episodes, success rate, mean return
//   batch(B), target(T), evaluation(N), evaluate_every(K), coach(Address)    settings of the run
//
// Actions: .learn(Episodes)  .evaluate(Episodes)  .explore(AtLeast)  .consolidate  .save("why")
//          .share(Address)  .done("why")  .send(Address, achieve or tell, Term)
//
// Every run saves a checkpoint at its end, even without .save.
// The first applicable plan is chosen. `!!goal` starts a new intention, `!goal` adds a subgoal.

phase(exploring).
examined(0).

// Train until Goal episodes are done.

@trained
+!train(Goal) : complete | (episodes(N) & N >= Goal)
   <- !finish("all episodes are trained").

@examine
+!train(Goal) : evaluate_every(K) & examined(M) & episodes(N) & N >= M + K
   <- -+examined(N);
      !examine;
      !!train(Goal).

@consolidate
+!train(Goal) : phase(exploring) & progress(P) & P >= 0.9
   <- -phase(exploring);
      +phase(consolidating);
      .consolidate;
      !!train(Goal).

@practise
+!train(Goal) : batch(B)
   <- .learn(B);
      !!train(Goal).

// Train until an evaluation reaches the target, or no episodes are left.

@reached
+!reach_goal : evaluated(_, R, _) & target(T) & R >= T
   <- !finish("the goal is reached").

@no_episodes_left
+!reach_goal : complete
   <- !finish("no episodes are left, and the goal is not reached").

@promising
+!reach_goal : success_rate(R) & target(T) & R >= 0.8 * T & batch(B) & examined(M) & episodes(N) & N >= M + 5 * B
   <- -+examined(N);
      .abolish(phase(_));
      +phase(consolidating);
      .consolidate;
      !examine;
      !!reach_goal.

@explore_again
+!reach_goal : phase(consolidating) & success_rate(R) & target(T) & R < 0.5 * T & batch(B)
   <- -phase(consolidating);
      +phase(exploring);
      .explore(0.3);
      .learn(B);
      !!reach_goal.

@keep_training
+!reach_goal : batch(B)
   <- .learn(B);
      !!reach_goal.

// Evaluate the greedy policy, without learning.

@evaluate
+!evaluate(N)
   <- .evaluate(N);
      !report_score.

@examine_now
+!examine : evaluation(N)
   <- .evaluate(N).

@score_to_coach
+!report_score : coach(C) & evaluated(N, R, M)
   <- .send(C, tell, scored(N, R, M)).

@score
+!report_score
   <- true.

// After a goal is finished: report to the coach, or finish the run if there is no coach.

@report
+!finish(Why) : coach(C) & episodes(N) & success_rate(R)
   <- .send(C, tell, trained(N, R)).

@report_nothing
+!finish(Why) : coach(C) & episodes(N)
   <- .send(C, tell, trained(N, 0)).

@finish
+!finish(Why)
   <- .done(Why).
