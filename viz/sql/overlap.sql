-- SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
--
-- Shows how much time nonblocking operations leave to the program. The rank can compute between the call that starts an operation and
-- the call that completes it; it cannot compute in the call that completes it. This does not show when the data moved in fact. There is
-- one row for each rank and function.
--
--   rank            the rank that completed the operations
--   operation       the function that describes them
--   operations      how many were completed
--   mean_bytes      mean size of one; NULL: unknown
--   between_us      mean time from the end of the starting call to the begin of the completing call
--   completing_us   mean time of the completing call; if it completes several operations, its whole time counts for each of them
--   between_pct     sum of the times between / (the same + sum of the times of completing calls)
WITH done AS (
  SELECT p.name AS rank,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.operation'), EXTRACT_ARG(s.arg_set_id, 'args.operation')) AS operation,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.bytes'), EXTRACT_ARG(s.arg_set_id, 'args.bytes')) AS bytes,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.between_us'), EXTRACT_ARG(s.arg_set_id, 'args.between_us'), 0) AS between_us,
         COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.completing_us'), EXTRACT_ARG(s.arg_set_id, 'args.completing_us')) AS completing_us
  FROM slice s JOIN thread_track tt ON s.track_id = tt.id JOIN thread t USING (utid) JOIN process p USING (upid)
  WHERE s.category = 'operation' AND s.name = 'finished')
SELECT rank, operation, COUNT(*) AS operations, ROUND(AVG(bytes), 1) AS mean_bytes, ROUND(AVG(between_us), 3) AS between_us,
       ROUND(AVG(completing_us), 3) AS completing_us,
       ROUND(100.0 * SUM(between_us) / SUM(between_us + completing_us), 1) AS between_pct
FROM done GROUP BY rank, operation ORDER BY SUM(completing_us) DESC, rank, operation;
