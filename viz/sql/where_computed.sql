-- SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
--
-- Shows in which functions ranks computed outside MPI, from the samples that `record --stacks` takes there: 97 for each second of CPU time. Only
-- the native format has them. There is one row for each rank and function, the most samples first.
--
--   rank         the process
--   function     name of the function; "[callers unknown]" stands for callers that could not be found
--   file         the program or library that has it
--   samples      in the function itself
--   share_pct    of the rank's samples
--   with_called  samples in the function or in what it called
WITH RECURSIVE frames AS (
  SELECT s.id AS sample, p.name AS rank, s.callsite_id AS at, 1 AS innermost
  FROM perf_sample s JOIN thread t USING (utid) JOIN process p USING (upid)
  WHERE p.name GLOB '*rank *'
  UNION ALL
  SELECT f.sample, f.rank, c.parent_id, 0
  FROM frames f JOIN stack_profile_callsite c ON c.id = f.at WHERE c.parent_id IS NOT NULL),
named AS (
  SELECT f.rank, f.sample, f.innermost, COALESCE(fr.deobfuscated_name, fr.name) AS function, m.name AS file
  FROM frames f JOIN stack_profile_callsite c ON c.id = f.at JOIN stack_profile_frame fr ON fr.id = c.frame_id
  LEFT JOIN stack_profile_mapping m ON m.id = fr.mapping),
counted AS (
  SELECT rank, function, file, SUM(innermost) AS samples, COUNT(DISTINCT sample) AS with_called FROM named GROUP BY rank, function, file)
SELECT rank, function, file, samples, ROUND(100.0 * samples / SUM(samples) OVER (PARTITION BY rank), 1) AS share_pct, with_called
FROM counted ORDER BY rank, samples DESC, with_called DESC, function;
