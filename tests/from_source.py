"""Which tests need the model's source, even where the others run on a compiled build.

They replace a method of a class, derive a class from one that only compiled code may derive from, or watch parts at
work; an extension module allows none of these.
"""

from __future__ import annotations

FROM_SOURCE = (
    "validation/conformance/zfs/test_zfs.py::test_a_wrong_rule_is_noticed",
    "validation/conformance/caches/test_caches.py::test_another_rule_of_promotion_is_noticed",
    "validation/conformance/caches/test_caches.py::test_without_a_fair_scheduler_another_order",
    "validation/conformance/caches/test_caches.py::test_without_congestion_streams_are_missed",
    "cli/serving/test_command.py::test_the_end_has_the_usual_result_and_the_timeline",
    "compiled/test_same_bits.py::test_a_recorder_refuses_compiled_parts",
    "model/core/test_device.py",
    "model/disk/test_shingled.py::test_several_streams_keep_their_bands_open",
    "model/file_system/test_inode_times.py",
    "model/layouts/test_recovery.py",
    "model/links/test_shortcuts.py",
    "model/memory/test_dirty_balance.py",
    "model/memory/test_page_cache.py::test_calls_end_where_a_program_that_starts_in_the_middle_ends_them",
    "model/memory/test_unplugged_read_ahead.py",
    "model/raid/base/test_array.py",
    "model/raid/base/test_io_limit.py",
    "model/raid/mirrors/test_mirror.py::test_a_policy_may_cut_a_read",
    "model/raid/mirrors/test_raid10.py",
    "model/raid/parity_until_4_0/test_row_writer.py",
    "model/tasks/test_host.py",
    "phenomena/test_files_on_arrays.py::test_small_files_merge_on_a_mirror_as_on_a_disk",
    "phenomena/test_files_on_arrays.py::test_write_back_keeps_its_plug_open_while_it_computes",
    "scenarios/comparison/test_redundancy.py",
    "scenarios/comparison/test_solid_state.py::test_timelines_know_them",
    "scenarios/machine/test_machine.py",
    "scenarios/running/test_parity_programs.py::test_programs_that_wait_for_nothing_are_given_up",
    "scenarios/running/test_today.py::test_the_same_scenario_has_the_same_issuers_whatever_ran_before",
    "scenarios/timeline/test_timeline.py",
    "test_architecture.py::test_the_walk_is_the_one_that_is_run",
    "test_benchmarks.py",
    "test_theory.py::test_the_theorys_examples_hold",
    "validation/conformance/md/test_readahead_truth.py::test_without_growth_the_ramp_is_missed",
    "validation/conformance/md/test_readchoice.py::test_shares_of_another_policy_are_noticed",
    "validation/conformance/rebuilds/test_rebuild.py::test_writes_that_do_not_merge_are_noticed",
    "validation/laws/test_caching.py",
    "validation/laws/test_mutants.py",
    "web/work/test_runs.py::test_the_course_of_a_failure",
    "web/work/test_uploaded_file.py::test_a_disk_of_a_file_fails",
)
"""Files, or functions in them."""
