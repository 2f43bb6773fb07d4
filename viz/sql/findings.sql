-- SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
--
-- The findings, the costliest first (kmod-docs/FINDINGS.md has the rules). Costs must not be added: one finding may be the cause of another.
--
--   cost_ms  what the finding cost all ranks together
--   kind     the kind of finding
--   at_s     when its longest part began, in seconds since the recording's start; NULL: it belongs to no certain time
--   part_ms  how long that part is; NULL as above
--   finding  a sentence: who waited, for whom, how long
--   advice   what to do about it; NULL: there is no advice
WITH found AS (
  SELECT *, COALESCE(EXTRACT_ARG(arg_set_id, 'debug.at_no_certain_time'), EXTRACT_ARG(arg_set_id, 'args.at_no_certain_time'), 0) AS always
  FROM slice WHERE category = 'finding')
SELECT ROUND(COALESCE(EXTRACT_ARG(arg_set_id, 'debug.cost_us'), EXTRACT_ARG(arg_set_id, 'args.cost_us')) / 1e3, 3) AS cost_ms,
       COALESCE(EXTRACT_ARG(arg_set_id, 'debug.kind'), EXTRACT_ARG(arg_set_id, 'args.kind')) AS kind,
       IIF(always, NULL, ROUND((ts - (SELECT ts FROM slice WHERE category = 'povtrace' AND name = 'recording')) / 1e9, 6)) AS at_s,
       IIF(always, NULL, ROUND(dur / 1e6, 3)) AS part_ms, name AS finding,
       COALESCE(EXTRACT_ARG(arg_set_id, 'debug.advice'), EXTRACT_ARG(arg_set_id, 'args.advice')) AS advice
FROM found ORDER BY cost_ms DESC, ts, kind;
