-- SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
-- Whether Perfetto's trace_processor took a timeline as it was meant. Every row is "check", count; all
-- but those named total_* must be 0. health (lib.bash) compares the totals with the writer's.
WITH
-- What the importer itself complains about. lost_events was asked for: the recording has gaps.
complaints AS (
  SELECT name FROM stats
  WHERE value > 0 AND name <> 'ftrace_cpu_has_data_loss'
    AND (severity IN ('error', 'data_loss', 'notice')
      OR name IN ('flow_step_without_start', 'flow_end_without_start', 'compact_sched_waking_skipped',
                  'compact_sched_switch_skipped'))),
-- Each CPU's and each thread's stretches with the begin of the next.
on_cpu AS (
  SELECT s.ts, s.dur, LEAD(s.ts) OVER (PARTITION BY s.ucpu ORDER BY s.ts, s.id) AS next_ts FROM sched_slice s),
on_thread AS (
  SELECT s.ts, s.dur, LEAD(s.ts) OVER (PARTITION BY s.utid ORDER BY s.ts, s.id) AS next_ts
  FROM sched_slice s JOIN thread t USING (utid) WHERE t.is_idle IS NOT 1),
in_state AS (
  SELECT ts, dur, LEAD(ts) OVER (PARTITION BY utid ORDER BY ts, id) AS next_ts FROM thread_state),
arrows AS (
  SELECT o.ts AS from_ts, i.ts AS to_ts, o.track_id AS from_track, i.track_id AS to_track,
         o.name AS name, o.parent_id AS from_call, i.parent_id AS to_call
  FROM flow f JOIN slice o ON f.slice_out = o.id JOIN slice i ON f.slice_in = i.id)
SELECT 'complaints' AS what, COUNT(*) AS n FROM complaints
UNION ALL SELECT 'slices that stick out of their parent', COUNT(*) FROM slice c JOIN slice p ON c.parent_id = p.id
  WHERE c.ts < p.ts OR (p.dur >= 0 AND c.dur >= 0 AND c.ts + c.dur > p.ts + p.dur)
UNION ALL SELECT 'slices of negative length', COUNT(*) FROM slice WHERE dur < -1
UNION ALL SELECT 'two threads at once on a CPU', COUNT(*) FROM on_cpu WHERE dur >= 0 AND ts + dur > next_ts
UNION ALL SELECT 'a thread on two CPUs at once', COUNT(*) FROM on_thread WHERE dur >= 0 AND ts + dur > next_ts
UNION ALL SELECT 'a thread in two states at once', COUNT(*) FROM in_state WHERE dur >= 0 AND ts + dur > next_ts
UNION ALL SELECT 'running, but on no CPU', COUNT(*) FROM thread_state s JOIN thread t USING (utid)
  WHERE s.state = 'Running' AND t.is_idle IS NOT 1 AND NOT EXISTS
    (SELECT 1 FROM sched_slice c WHERE c.utid = s.utid AND c.ts = s.ts AND c.dur = s.dur)
UNION ALL SELECT 'on a CPU, but not running', COUNT(*) FROM sched_slice c JOIN thread t USING (utid)
  WHERE t.is_idle IS NOT 1 AND NOT EXISTS
    (SELECT 1 FROM thread_state s WHERE s.utid = c.utid AND s.ts = c.ts AND s.state = 'Running')
UNION ALL SELECT 'states without a name', COUNT(*) FROM thread_state WHERE state IS NULL
UNION ALL SELECT 'threads without a name', COUNT(*) FROM thread
  WHERE name IS NULL AND tid <> 0 AND is_main_thread IS NOT 1
UNION ALL SELECT 'threads without a process', COUNT(*) FROM thread WHERE upid IS NULL AND tid <> 0
UNION ALL SELECT 'threads with one number', COUNT(*) FROM
  (SELECT 1 FROM thread WHERE tid <> 0 GROUP BY tid HAVING COUNT(*) > 1)
UNION ALL SELECT 'arrows that run backwards', COUNT(*) FROM arrows WHERE to_ts < from_ts
UNION ALL SELECT 'arrows within a thread', COUNT(*) FROM arrows WHERE from_track = to_track AND name <> 'started'
UNION ALL SELECT 'arrows from or to no call', COUNT(*) FROM arrows WHERE from_call IS NULL OR to_call IS NULL
UNION ALL SELECT 'total_open', COUNT(*) FROM slice WHERE dur = -1
UNION ALL SELECT 'total_slices', COUNT(*) FROM slice
UNION ALL SELECT 'total_flows', COUNT(*) FROM flow
UNION ALL SELECT 'total_counters', COUNT(*) FROM counter
UNION ALL SELECT 'total_switches', COUNT(*) FROM sched_slice
UNION ALL SELECT 'total_data_loss', COUNT(*) FROM stats WHERE value > 0 AND name = 'ftrace_cpu_has_data_loss';
