# The step-wise methods and the scorers of steps.
target_sources(hyper PRIVATE
  methods/ets.cc methods/grants.cc methods/judge_reward.cc methods/mcts.cc
  methods/process_reward.cc methods/rebase.cc methods/step_boundary.cc
  methods/step_reward.cc methods/step_tree.cc methods/threadweaver.cc methods/tot.cc)
hyper_tests(step_tests
  methods/ets_test.cc methods/mcts_test.cc methods/rebase_test.cc methods/step_boundary_test.cc
  methods/step_methods_test.cc methods/step_reward_test.cc methods/threadweaver_test.cc
  methods/tot_test.cc)
