-- SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
--
-- Shows where the time of each rank's threads went, by function. Only outermost calls count, so that no time counts twice. There is
-- one row for each rank and function, the longest total first.
--
--   rank         the process
--   function     the name as in the timeline; merged polls are "NAME, empty polls". If calls are drawn together, each function among
--                them counts, even one that was called within another, and polls that found nothing count as calls of their function
--   calls        the number of calls; for merged polls, the number of polls
--   total_ms     time in all of them; calls that never returned count until the end
--   mean_us      total / calls
--   longest_us   the longest call; for merged polls, their longest run; for calls drawn together, their sum in one slice
--   running_ms   part of the total on a CPU (working or polling)
--   runnable_ms  part of the total spent waiting for a CPU
--   blocked_ms   part of the total asleep. These last three leave out calls that are drawn together with those of other functions
WITH slices AS (
  SELECT p.name AS rank, s.name, s.arg_set_id AS args_of,
         IIF(EXTRACT_ARG(s.arg_set_id, 'debug.calls_below_us') IS NULL, 'args.', 'debug.') AS prefix,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.calls_below_us'), EXTRACT_ARG(s.arg_set_id, 'args.calls_below_us')) AS together,
         IIF(INSTR(s.name, ' ×'), SUBSTR(s.name, 1, INSTR(s.name, ' ×') - 1), NULL) AS names,
         IIF(s.dur < 0, TRACE_END() - s.ts, s.dur) AS ns,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.count'), EXTRACT_ARG(s.arg_set_id, 'args.count')) AS cnt,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.busy_us'), EXTRACT_ARG(s.arg_set_id, 'args.busy_us')) AS busy_us,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.running_us'), EXTRACT_ARG(s.arg_set_id, 'args.running_us'), 0) AS running_us,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.runnable_us'), EXTRACT_ARG(s.arg_set_id, 'args.runnable_us'), 0) AS runnable_us,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.blocked_us'), EXTRACT_ARG(s.arg_set_id, 'args.blocked_us'), 0) AS blocked_us
  FROM slice s JOIN thread_track tt ON s.track_id = tt.id JOIN thread t USING (utid) JOIN process p USING (upid)
  WHERE s.parent_id IS NULL AND p.name GLOB '*rank *'
    AND s.category NOT IN ('wakeup', 'message', 'operation', 'completion')),
calls AS (
  SELECT rank, IIF(names IS NULL, name, names || ', empty polls') AS function, ns, IIF(names IS NULL, 1, cnt) AS cnt,
         running_us, runnable_us, blocked_us
  FROM slices WHERE together IS NULL
  UNION ALL
  SELECT rank, names, busy_us * 1e3, cnt, running_us, runnable_us, blocked_us
  FROM slices WHERE together IS NOT NULL AND NOT INSTR(names, ', ')
  UNION ALL
  SELECT rank, SUBSTR(a.key, LENGTH(prefix) + 1, LENGTH(a.key) - LENGTH(prefix) - LENGTH('_count')),
         EXTRACT_ARG(args_of, SUBSTR(a.key, 1, LENGTH(a.key) - LENGTH('count')) || 'busy_us') * 1e3,
         EXTRACT_ARG(args_of, a.key), 0, 0, 0
  FROM slices JOIN args a ON a.arg_set_id = args_of
  WHERE together IS NOT NULL AND INSTR(names, ', ') AND a.key GLOB '*_count')
SELECT rank, function,
       SUM(cnt) AS calls,
       ROUND(SUM(ns) / 1e6, 3) AS total_ms,
       ROUND(SUM(ns) / 1e3 / SUM(cnt), 3) AS mean_us,
       ROUND(MAX(ns) / 1e3, 3) AS longest_us,
       ROUND(SUM(running_us) / 1e3, 3) AS running_ms,
       ROUND(SUM(runnable_us) / 1e3, 3) AS runnable_ms,
       ROUND(SUM(blocked_us) / 1e3, 3) AS blocked_ms
FROM calls GROUP BY rank, function ORDER BY total_ms DESC, rank, function;
