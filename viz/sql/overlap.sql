-- SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
--
-- How much time nonblocking operations leave to the program: between the call that starts one and the call that completes it the
-- rank can compute; in the call that completes it, it cannot. When the data had moved in truth, this does not tell. One
-- row for each rank and function.
--
--   rank            who completed them
--   operation       the function that describes them
--   operations      how many were completed
--   mean_bytes      of one; NULL: not known
--   between_us      mean time from the end of the starting to the begin of the completing call
--   completing_us   mean time of the completing call; of a call that completes several, it is each one's
--   between_pct     between / (between + completing), of the sums
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
