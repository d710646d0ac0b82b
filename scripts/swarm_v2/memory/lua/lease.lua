-- Who recomputes a space, by this server's clock.
--
-- KEYS  1 lease
-- ARGV  acquire|release|held, holder, time to live in ms
-- Returns 1 or 0; of held: {holder, when it ends in ms since 1970}, or {} where nobody holds it
local holder = redis.call('GET', KEYS[1])
if ARGV[1] == 'held' then
  if not holder then return {} end
  local now = redis.call('TIME')
  local left = redis.call('PTTL', KEYS[1])
  return {holder, now[1] * 1000 + math.floor(now[2] / 1000) + left}
end
if holder and holder ~= ARGV[2] then return 0 end
if ARGV[1] == 'acquire' then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  return 1
end
return redis.call('DEL', KEYS[1])
