// What each of two learners does that share what they know.
//
// Beliefs, besides those in learner.asl:
//   partner(Address), share_every(Episodes)
//   taken_over(Address, Times)    what the partner shared was merged into the table

shared(0).

@share
+!train(Goal) : partner(A) & share_every(K) & shared(M) & episodes(N) & N >= M + K
   <- -+shared(N);
      .share(A);
      !!train(Goal).

@share_on_the_way
+!reach_goal : partner(A) & share_every(K) & shared(M) & episodes(N) & N >= M + K
   <- -+shared(N);
      .share(A);
      !!reach_goal.

// Everything else is as alone.
{ include("learner.asl") }
