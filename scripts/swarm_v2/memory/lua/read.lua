-- The parts of several instances' values, all at one moment.
--
-- KEYS  1 head  2 snapshots; then the revisions of each instance
-- ARGV  the field of each instance in head
-- Returns for each {head or false, snapshot or "", the revisions its value is made of ...}
local answer = {}
for i, field in ipairs(ARGV) do
  local head = redis.call('HGET', KEYS[1], field)
  local base, patches = string.match(head or '', '^%d+ %a+ ([rse-]) (%d+) ')
  local one = {head, ''}
  local length = tonumber(patches or '0')
  if base == 'r' then length = length + 1 end
  if base == 's' then one[2] = redis.call('HGET', KEYS[2], field) or '' end
  if length > 0 then
    for _, entry in ipairs(redis.call('LRANGE', KEYS[i + 2], -length, -1)) do
      one[#one + 1] = entry
    end
  end
  answer[i] = one
end
return answer
