-- SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
--
-- Counts the sends whose message has no arrow, and the nonblocking operations that have none because nobody completed them. The member `matching` of
-- `povtrace report --json` shows why messages were not matched.
--
--   what      send: its receive is unknown; operation: it was started, and no call was seen that completes it
--   rank      the rank that called
--   function  the function that it called
--   calls     the number of such calls
--   first_s   when the first one began, in seconds since the recording's start
WITH calls AS (
  SELECT s.id, s.name, s.ts, s.arg_set_id, p.name AS rank
  FROM slice s JOIN thread_track tt ON s.track_id = tt.id JOIN thread t USING (utid) JOIN process p USING (upid)
  WHERE s.category IN ('p2p', 'coll') AND p.name GLOB '*rank *' AND s.name NOT GLOB '*_init'),
found AS (
  SELECT 'send' AS what, * FROM calls c
  WHERE LOWER(name) GLOB 'mpi_*send*' AND NOT EXISTS (SELECT 1 FROM slice a WHERE a.parent_id = c.id AND a.name = 'sent')
    AND COALESCE(EXTRACT_ARG(arg_set_id, 'debug.dest'), EXTRACT_ARG(arg_set_id, 'args.dest')) IS NOT 'MPI_PROC_NULL'
  UNION ALL
  SELECT 'operation', * FROM calls c
  WHERE name GLOB 'MPI_I*' AND name NOT GLOB 'MPI_I*probe'
    AND NOT EXISTS (SELECT 1 FROM slice a WHERE a.parent_id = c.id AND a.name = 'started'))
SELECT what, rank, name AS function, COUNT(*) AS calls,
       ROUND((MIN(ts) - (SELECT ts FROM slice WHERE category = 'povtrace' AND name = 'recording')) / 1e9, 6) AS first_s
FROM found GROUP BY what, rank, function ORDER BY what, calls DESC, rank, function;
