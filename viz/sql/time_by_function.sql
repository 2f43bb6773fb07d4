-- SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
--
-- Where the time of each rank's threads went, by function: outermost calls only, so that no time counts twice. One row for each
-- rank and function, the longest total first.
--
--   rank         the process
--   function     as in the timeline; polls that were merged are "NAME, empty polls"
--   calls        how many; of merged polls, how often it was polled
--   total_ms     in all of them; calls that never returned count until the end
--   mean_us      total by calls
--   longest_us   the longest one; of merged polls, the longest run of them
--   running_ms   of total: on a CPU (working or polling)
--   runnable_ms  of total: waiting for a CPU
--   blocked_ms   of total: asleep
WITH calls AS (
  SELECT p.name AS rank,
         CASE WHEN INSTR(s.name, ' ×') THEN SUBSTR(s.name, 1, INSTR(s.name, ' ×') - 1) || ', empty polls' ELSE s.name END AS function,
         IIF(s.dur < 0, TRACE_END() - s.ts, s.dur) AS ns,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.count'), EXTRACT_ARG(s.arg_set_id, 'args.count')) AS polls,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.running_us'), EXTRACT_ARG(s.arg_set_id, 'args.running_us'), 0) AS running_us,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.runnable_us'), EXTRACT_ARG(s.arg_set_id, 'args.runnable_us'), 0) AS runnable_us,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.blocked_us'), EXTRACT_ARG(s.arg_set_id, 'args.blocked_us'), 0) AS blocked_us
  FROM slice s JOIN thread_track tt ON s.track_id = tt.id JOIN thread t USING (utid) JOIN process p USING (upid)
  WHERE s.parent_id IS NULL AND p.name GLOB '*rank *'
    AND s.category NOT IN ('wakeup', 'message', 'operation', 'completion'))
SELECT rank, function,
       SUM(IIF(function GLOB '*, empty polls', polls, 1)) AS calls,
       ROUND(SUM(ns) / 1e6, 3) AS total_ms,
       ROUND(SUM(ns) / 1e3 / SUM(IIF(function GLOB '*, empty polls', polls, 1)), 3) AS mean_us,
       ROUND(MAX(ns) / 1e3, 3) AS longest_us,
       ROUND(SUM(running_us) / 1e3, 3) AS running_ms,
       ROUND(SUM(runnable_us) / 1e3, 3) AS runnable_ms,
       ROUND(SUM(blocked_us) / 1e3, 3) AS blocked_ms
FROM calls GROUP BY rank, function ORDER BY total_ms DESC, rank, function;
