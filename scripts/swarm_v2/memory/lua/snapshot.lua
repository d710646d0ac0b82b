-- Keep the whole value of a patched instance, unless it has moved on.
--
-- KEYS  1 head  2 snapshots
-- ARGV  field, head as it was read, head as it is then, whole value
-- Returns 1, or 0 where the head is another
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
return 1
