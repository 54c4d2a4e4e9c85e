// What a learner does, alone or with a coach.
//
// Beliefs that the worker keeps up to date:
//   episodes(N), steps(N), progress(P)      how far the run is; P from 0 to 1
//   complete                                the run has all the episodes or steps that it was asked for
//   success_rate(R), mean_return(M)         of the last 100 episodes
//   exploration(E), td_error(D), coverage(C)
//   evaluated(N, R, M)                      the last evaluation: episodes, success rate, mean return
//   batch(B), target(T), evaluation(N), evaluate_every(K), coach(Address)    how the run was set up
//
// Actions: .learn(Episodes)  .evaluate(Episodes)  .explore(AtLeast)  .consolidate  .save("why")
//          .share(Address)  .done("why")  .send(Address, achieve or tell, Term)
//
// A checkpoint is saved at the end of every run, also without .save.
// The first plan whose condition holds is taken. `!!goal` begins anew, `!goal` goes one level deeper.

phase(exploring).
examined(0).

// Train so many episodes.

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

// Train until an evaluation shows that the goal is reached, or the episodes are used up.

@reached
+!reach_goal : evaluated(_, R, _) & target(T) & R >= T
   <- !finish("the goal is reached").

@used_up
+!reach_goal : complete
   <- !finish("the episodes are used up before the goal is reached").

@promising
+!reach_goal : success_rate(R) & target(T) & R >= 0.8 * T & batch(B) & examined(M) & episodes(N) & N >= M + 5 * B
   <- -+examined(N);
      .abolish(phase(_));
      +phase(consolidating);
      .consolidate;
      !examine;
      !!reach_goal.

@lost_it
+!reach_goal : phase(consolidating) & success_rate(R) & target(T) & R < 0.5 * T & batch(B)
   <- -phase(consolidating);
      +phase(exploring);
      .explore(0.3);
      .learn(B);
      !!reach_goal.

@try_on
+!reach_goal : batch(B)
   <- .learn(B);
      !!reach_goal.

// See how good the best known actions are, without learning.

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

// What follows when a goal is over. A coach decides what comes next; alone, that was all.

@report
+!finish(Why) : coach(C) & episodes(N) & success_rate(R)
   <- .send(C, tell, trained(N, R)).

@report_nothing
+!finish(Why) : coach(C) & episodes(N)
   <- .send(C, tell, trained(N, 0)).

@finish
+!finish(Why)
   <- .done(Why).
