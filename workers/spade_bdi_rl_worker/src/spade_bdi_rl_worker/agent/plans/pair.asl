// Plans of each of two learners that share their action values.
//
// Beliefs, besides those in learner.asl:
//   partner(Address), share_every(Episodes)
//   taken_over(Address, Times)    number of times that values of the partner were merged

shared(0).

@share
+!train(Goal) : partner(A) & share_every(K) & shared(M) & episodes(N) & N >= M + K
   <- -+shared(N);
      .share(A);
      !!train(Goal).

@share_towards_goal
+!reach_goal : partner(A) & share_every(K) & shared(M) & episodes(N) & N >= M + K
   <- -+shared(N);
      .share(A);
      !!reach_goal.

// All other plans are those of a single learner.
{ include("learner.asl") }
