-- SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
--
-- Shows which threads kept the threads of ranks waiting for a core: those that ran, while the rank's thread was runnable, on the CPU where it ran
-- next. (`povtrace report` also follows threads that are moved to another CPU while they wait.) There is one row for each pair of a waiting thread
-- and a thread that ran, the longest total first.
--
--   rank, thread     process and number of the thread that waited
--   held_by, holder  process and number of the thread that ran; "(not recorded)" if it is unknown
--   held_ms          the time that it ran in all these waits
--   times            the number of waits
--   longest_ms       the longest time that it ran in one wait
--   longest_at_s     when that time began, in seconds since the recording's start
CREATE OR REPLACE PERFETTO TABLE pov_ran AS
  SELECT ucpu, ts, ts + IIF(dur < 0, TRACE_END() - ts, dur) AS end_ts, utid FROM sched_slice;
CREATE OR REPLACE PERFETTO INDEX pov_ran_by_cpu ON pov_ran(ucpu, ts);
CREATE OR REPLACE PERFETTO INDEX pov_ran_by_thread ON pov_ran(utid, ts);
WITH waits AS (
  SELECT s.utid, s.ts, s.ts + s.dur AS end_ts, p.name AS rank, t.tid,
         (SELECT ucpu FROM pov_ran r WHERE r.utid = s.utid AND r.ts = s.ts + s.dur) AS ucpu
  FROM thread_state s JOIN thread t USING (utid) JOIN process p USING (upid)
  WHERE s.state IN ('R', 'R+') AND s.dur > 0 AND p.name GLOB '*rank *'),
held AS (
  SELECT w.rank, w.tid, h.utid, MAX(h.ts, w.ts) AS ts, MIN(h.end_ts, w.end_ts) - MAX(h.ts, w.ts) AS ns
  FROM waits w JOIN pov_ran h ON h.ucpu = w.ucpu AND h.ts < w.end_ts
    AND h.ts >= COALESCE((SELECT MAX(ts) FROM pov_ran b WHERE b.ucpu = w.ucpu AND b.ts <= w.ts), w.ts)
  WHERE h.end_ts > w.ts AND h.utid <> w.utid)
SELECT h.rank, h.tid AS thread, IIF(t.tid >= 2000000000, t.name, COALESCE(p.name, t.name)) AS held_by, t.tid AS holder,
       ROUND(SUM(h.ns) / 1e6, 3) AS held_ms, COUNT(*) AS times, ROUND(MAX(h.ns) / 1e6, 3) AS longest_ms,
       ROUND((h.ts - (SELECT ts FROM slice WHERE category = 'povtrace' AND name = 'recording')) / 1e9, 6) AS longest_at_s
FROM held h JOIN thread t ON t.utid = h.utid LEFT JOIN process p ON p.upid = t.upid
WHERE t.is_idle IS NOT 1
GROUP BY h.rank, h.tid, h.utid ORDER BY held_ms DESC, h.rank, thread;
