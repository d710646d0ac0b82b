-- One commit: every check, then every write. Nothing is written where a check fails.
--
-- KEYS  1 seq  2 head  3 snapshots  4 annotations  5 commits  6 basis  7 lease  8 request;
--       then for each write: its revisions, the live ids of its scope key, all instances of its
--       scope key (written for sessions only)
-- ARGV  how long the request is known in ms, the greatest length of a value;
--       1 where the lease is needed, its holder; class, session key, holder, time, annotations;
--       the number of checks, and for each: base|read|guard, field of head, sequence number;
--       the number of writes, and for each: field, operation, text, whole value or "", header of
--       the revision, id, 1 for a session's, the number of revisions to write anew and for each
--       index and entry;
--       the number of basis rows to delete and their fields; the number to write, field and value
-- Returns {"done", number or 0, the fields that want a snapshot ...}, {"stale", check from 1,
--       number of the head}, {"lost"}, {"again"} where a guard failed, {"large"} where a value
--       may be too long and a guarded whole one is needed, {"damaged", what}
--
-- A head is "seq op base patches base_bytes patch_bytes"; base: r the revision before the last
-- so many patches, s the snapshot, e nothing, - none (deleted).

local OPS = {set = true, patch = true, delete = false, erase = false}  -- whether it lives then
local TYPES = {'string', 'hash', 'hash', 'hash', 'stream', 'hash', 'string', 'string'}
local OF_WRITE = {'list', 'zset', 'set'}
for i, key in ipairs(KEYS) do
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= (TYPES[i] or OF_WRITE[(i - 9) % 3 + 1]) then
    return {'damaged', 'a key of another type'}
  end
end

local known = redis.call('GET', KEYS[8])
if known then return {'done', tonumber(known)} end

local at = 0
local function take() at = at + 1 return ARGV[at] end
local function count() return tonumber(take()) end

local function head_of(field)
  local text = redis.call('HGET', KEYS[2], field)
  if not text then return nil end
  local seq, op, base, patches, whole, more =
    string.match(text, '^(%d+) (%a+) ([rse-]) (%d+) (%d+) (%d+)$')
  if not seq or OPS[op] == nil or OPS[op] == (base == '-') then return false end
  return {seq = tonumber(seq), op = op, base = base, patches = tonumber(patches),
          whole = tonumber(whole), more = tonumber(more)}
end

local ttl, longest = count(), count()
local needed, holder = take(), take()
if needed == '1' and (holder == '' or redis.call('GET', KEYS[7]) ~= holder) then
  return {'lost'}
end
local log = {take(), take(), take(), take()}
local annotations = take()

for i = 1, count() do
  local mode, field, seen = take(), take(), count()
  local head = head_of(field)
  if head == false then return {'damaged', 'a head that no commit wrote'} end
  local current = head and head.seq or 0
  if current ~= seen then
    if mode == 'guard' then return {'again'} end
    return {'stale', i, current}
  end
end

local last = redis.call('GET', KEYS[1])
local seq = tonumber(last or '0')
if not seq then return {'damaged', 'the sequence number'} end
seq = seq + 1

-- First without writing: what each write leaves, for those behind it in the same commit.
local heads, todo, due, touched = {}, {}, {}, {}
for i = 1, count() do
  local one = {field = take(), op = take(), text = take(), whole = take(), header = take(),
               id = take(), session = take() == '1', anew = {}, keys = 6 + 3 * i}
  for _ = 1, count() do one.anew[#one.anew + 1] = {take(), take()} end
  local old = heads[one.field]
  if old == nil then old = head_of(one.field) end
  if old == false then return {'damaged', 'a head that no commit wrote'} end
  local dead = not old or old.base == '-'
  local new = {seq = seq, op = one.op, base = '-', patches = 0, whole = 0, more = 0}
  local changes = true
  if one.op == 'set' then
    new.base, new.whole = 'r', #one.text
  elseif one.op == 'patch' and one.whole ~= '' then
    new.base, new.whole = 's', #one.whole
  elseif one.op == 'patch' then
    new.base = dead and 'e' or old.base
    new.patches = dead and 1 or old.patches + 1
    new.whole = dead and 0 or old.whole
    new.more = (dead and 0 or old.more) + #one.text
    if new.whole + new.more > longest then return {'large'} end
    if new.more * 2 > new.whole + 1024 then due[one.field] = true end
  else
    changes = old and old.op ~= 'erase' and not (one.op == 'delete' and dead)
  end
  if changes then
    heads[one.field] = new
    one.new = new
    todo[#todo + 1] = one
    touched[#touched + 1] = one.field
  end
end

if #todo > 0 then
  -- The one call that could be refused for its argument comes before all others.
  redis.call('XADD', KEYS[5], seq .. '-0', 'class', log[1], 'session', log[2], 'holder', log[3],
             'at', log[4], 'touched', '[' .. table.concat(touched, ',') .. ']',
             'request', string.match(KEYS[8], '[^:]*$'))
  redis.call('SET', KEYS[1], seq)
  if annotations ~= '' then redis.call('HSET', KEYS[4], seq, annotations) end
else
  seq = 0
end

for _, one in ipairs(todo) do
  local revisions, live, all = KEYS[one.keys], KEYS[one.keys + 1], KEYS[one.keys + 2]
  local new = one.new
  if one.op == 'erase' then
    for _, entry in ipairs(redis.call('LRANGE', revisions, 0, -1)) do
      redis.call('HDEL', KEYS[4], string.match(entry, '^%d+') or '')
    end
    redis.call('DEL', revisions)
  end
  for _, pair in ipairs(one.anew) do
    redis.call('HDEL', KEYS[4], string.match(pair[2], '^%d+') or '')
    redis.call('LSET', revisions, pair[1], pair[2])
  end
  redis.call('RPUSH', revisions, seq .. ' ' .. one.header .. '\n' .. one.text)
  redis.call('HSET', KEYS[2], one.field, table.concat(
    {new.seq, new.op, new.base, new.patches, new.whole, new.more}, ' '))
  if new.base == 's' and one.whole ~= '' then
    redis.call('HSET', KEYS[3], one.field, one.whole)
  elseif new.base ~= 's' then
    redis.call('HDEL', KEYS[3], one.field)
  end
  if new.base == '-' then
    redis.call('ZREM', live, one.id)
  else
    redis.call('ZADD', live, 0, one.id)
  end
  if one.session then
    redis.call(one.op == 'erase' and 'SREM' or 'SADD', all, one.field)
  end
end

for _ = 1, count() do redis.call('HDEL', KEYS[6], take()) end
for _ = 1, count() do redis.call('HSET', KEYS[6], take(), take()) end
redis.call('SET', KEYS[8], seq, 'PX', ttl)

local answer = {'done', seq}
for field in pairs(due) do answer[#answer + 1] = field end
return answer
