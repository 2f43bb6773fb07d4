-- SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
--
-- Shows the messages that were waited for longest, and who was late. There is one row for each message and side that waited; the fifty longest
-- waits are shown. A call that completes several messages waits for them at the same time, so do not add their waits up.
--
--   waited_ms    the time from the begin of the call that waited until the late side called
--   waiter       the rank that waited
--   late         the rank that was late
--   why          late sender: it had not called its send yet; late receiver: it had not called its receive yet
--   sent_at_s    when the send was called, in seconds since the recording's start
--   bytes        size of the message; NULL: unknown
--   tag          tag of the message
WITH messages AS (
  SELECT o.ts - (SELECT ts FROM slice WHERE category = 'povtrace' AND name = 'recording') AS sent_ns, i.arg_set_id AS args,
         fp.name AS from_rank, tp.name AS to_rank
  FROM flow f JOIN slice o ON f.slice_out = o.id JOIN slice i ON f.slice_in = i.id
  JOIN thread_track ft ON o.track_id = ft.id JOIN thread fth ON fth.utid = ft.utid JOIN process fp ON fp.upid = fth.upid
  JOIN thread_track tt ON i.track_id = tt.id JOIN thread tth ON tth.utid = tt.utid JOIN process tp ON tp.upid = tth.upid
  WHERE o.name = 'sent'),
waits AS (
  SELECT COALESCE(EXTRACT_ARG(args, 'debug.receiver_waited_us'), EXTRACT_ARG(args, 'args.receiver_waited_us')) AS us,
         to_rank AS waiter, from_rank AS late, 'late sender' AS why, sent_ns, args FROM messages
  UNION ALL
  SELECT COALESCE(EXTRACT_ARG(args, 'debug.sender_waited_us'), EXTRACT_ARG(args, 'args.sender_waited_us')),
         from_rank, to_rank, 'late receiver', sent_ns, args FROM messages)
SELECT ROUND(us / 1e3, 3) AS waited_ms, waiter, late, why, ROUND(sent_ns / 1e9, 6) AS sent_at_s,
       COALESCE(EXTRACT_ARG(args, 'debug.bytes'), EXTRACT_ARG(args, 'args.bytes')) AS bytes,
       COALESCE(EXTRACT_ARG(args, 'debug.tag'), EXTRACT_ARG(args, 'args.tag')) AS tag
FROM waits WHERE us IS NOT NULL ORDER BY us DESC, sent_ns LIMIT 50;
