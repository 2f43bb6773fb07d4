-- SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
--
-- Shows the fifty messages that took longest from the call that posts the send to the end of the call that completes the receive. The part of
-- that time that is in neither wait is the transfer, and whatever either side did meanwhile.
--
--   latency_us          the time between these two calls
--   bytes               size of the message; NULL: unknown
--   from_rank, to_rank  the sender and the receiver
--   sent_in             the call that posted the send
--   received_in         the call that completed the receive
--   receiver_waited_us  how long the receiver waited until the send was called; NULL: it did not (this is before the latency begins)
--   sender_waited_us    how long the sender waited until the receive was called; NULL: it did not
--   sent_at_s           when it was sent, in seconds since the recording's start
SELECT COALESCE(EXTRACT_ARG(i.arg_set_id, 'debug.latency_us'), EXTRACT_ARG(i.arg_set_id, 'args.latency_us')) AS latency_us,
       COALESCE(EXTRACT_ARG(i.arg_set_id, 'debug.bytes'), EXTRACT_ARG(i.arg_set_id, 'args.bytes')) AS bytes,
       fp.name AS from_rank, tp.name AS to_rank, oc.name AS sent_in, ic.name AS received_in,
       COALESCE(EXTRACT_ARG(i.arg_set_id, 'debug.receiver_waited_us'), EXTRACT_ARG(i.arg_set_id, 'args.receiver_waited_us'))
         AS receiver_waited_us,
       COALESCE(EXTRACT_ARG(i.arg_set_id, 'debug.sender_waited_us'), EXTRACT_ARG(i.arg_set_id, 'args.sender_waited_us'))
         AS sender_waited_us,
       ROUND((o.ts - (SELECT ts FROM slice WHERE category = 'povtrace' AND name = 'recording')) / 1e9, 6) AS sent_at_s
FROM flow f JOIN slice o ON f.slice_out = o.id JOIN slice i ON f.slice_in = i.id
JOIN thread_track ft ON o.track_id = ft.id JOIN thread fth ON fth.utid = ft.utid JOIN process fp ON fp.upid = fth.upid
JOIN thread_track tt ON i.track_id = tt.id JOIN thread tth ON tth.utid = tt.utid JOIN process tp ON tp.upid = tth.upid
LEFT JOIN slice oc ON o.parent_id = oc.id LEFT JOIN slice ic ON i.parent_id = ic.id
WHERE o.name = 'sent' ORDER BY latency_us DESC, o.ts LIMIT 50;
