-- The function library of the store. Every key of one call has the same hash tag. The rules are not here: a commit
-- compares records with what its decision saw and applies the writes that it was given.

local LIBRARY_VERSION = 5

-- The most arguments that one command is given; more would not fit on the stack.
local MANY = 1000
-- Places in one entry of the log.
local PLACES = 1024

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function in_slices(first, last, apply)
  for from = first, last, MANY do apply(from, math.min(from + MANY - 1, last)) end
end

local function entry_id(number) return '0-' .. string.format('%.0f', number) end

-- The index of the entries of operators, beside the log: by time, the number of the entry in sixteen digits.
local function audit_of(log) return (string.gsub(log, '^ff:events:', 'ff:audit:')) end
local function audit_member(number) return string.format('%016.0f', number) end

-- Writes with a meaning of their own; any other name is a command of the server.
local special = {}

-- queue | key of the lane's queues, field: a queue without members is not listed with its lane.
function special.unlist(keys, key, args, at)
  if redis.call('EXISTS', key) == 0 then redis.call('HDEL', keys[tonumber(args[at])], args[at + 1]) end
end

-- counts | field, difference: a count of nothing is no field.
function special.count(keys, key, args, at)
  if redis.call('HINCRBY', key, args[at], args[at + 1]) == 0 then redis.call('HDEL', key, args[at]) end
end

-- Commits units together: compares the records that their decisions relied on, then writes all that they want written.
-- keys: records to compare; values to set; keys to remove; the event log and others.
-- args: the latest server time or 0; how many of the first three kinds of keys, and of entries for the log; two bytes
-- per compared record (0: only compared, 1: set to a value, n + 2: the same, behind the number of the call's entry n of
-- the log); what each record must hold (empty: nothing); per entry its time, the name of its count, its count, its
-- events; the values; then per command its name, key, number of arguments and arguments.
-- Returns 1: committed; -1: the decisions are too old; a list: these records are not as they were, nothing is written.
local function commit(keys, args)
  local latest = tonumber(args[1])
  if latest > 0 and now_ms() > latest then return -1 end
  local compared, set, gone, entries = tonumber(args[2]), tonumber(args[3]), tonumber(args[4]), tonumber(args[5])
  local what, wrong = args[6], {}
  in_slices(1, compared, function(first, last)
    local found = redis.call('MGET', unpack(keys, first, last))
    for i = first, last do
      if (found[i - first + 1] or '') ~= args[6 + i] then wrong[#wrong + 1] = i end
    end
  end)
  if #wrong > 0 then return wrong end

  local at, others = 7 + compared, compared + set + gone
  local numbers = {}
  for i = 1, entries do
    local id = redis.call('XADD', keys[others + 1], '0-*', 't', args[at], args[at + 1], args[at + 2], 'b', args[at + 3])
    numbers[i] = string.sub(id, 3)
    if args[at + 1] == 'a' then
      redis.call('ZADD', audit_of(keys[others + 1]), args[at], audit_member(tonumber(numbers[i])))
    end
    at = at + 4
  end
  local values, size = {}, 0
  for i = 1, compared do
    local high, low = string.byte(what, 2 * i - 1, 2 * i)
    local entry = high * 256 + low - 1
    if entry >= 0 then
      values[size + 1] = keys[i]
      values[size + 2] = entry == 0 and args[at] or numbers[entry] .. args[at]
      size = size + 2
      at = at + 1
    end
  end
  for i = compared + 1, compared + set do
    values[size + 1] = keys[i]
    values[size + 2] = args[at]
    size = size + 2
    at = at + 1
  end
  in_slices(1, size, function(first, last) redis.call('MSET', unpack(values, first, last)) end)
  in_slices(compared + set + 1, others, function(first, last) redis.call('UNLINK', unpack(keys, first, last)) end)
  while args[at] do
    local name, key, last = args[at], keys[tonumber(args[at + 1])], at + 2 + tonumber(args[at + 2])
    local own = special[name]
    if own then
      own(keys, key, args, at + 3)
    else
      redis.call(name, key, unpack(args, at + 3, last))
    end
    at = last + 1
  end
  return 1
end

-- Writes a hash where there is none: of several first starts, one wins. keys: the hash; args: fields and values.
local function adopt(keys, args)
  if redis.call('EXISTS', keys[1]) == 1 then return 0 end
  redis.call('HSET', keys[1], unpack(args))
  return 1
end

-- The first members of a queue that nobody has reserved. keys: queue, reservations; args: how many.
-- Returns the members as one string (28 bytes each) and whether the queue may have more.
local function peek(keys, args)
  local wanted = tonumber(args[1])
  local reserved = redis.call('EXISTS', keys[2]) == 1
  local now = reserved and now_ms() or 0
  local found, from, size = {}, 0, math.min(wanted, MANY)
  while true do
    local page = redis.call('ZRANGE', keys[1], from, from + size - 1)
    local held = {}
    if reserved and #page > 0 then
      local ids = {}
      for i, member in ipairs(page) do ids[i] = string.sub(member, 13) end
      held = redis.call('ZMSCORE', keys[2], unpack(ids))
    end
    for i, member in ipairs(page) do
      if not held[i] or tonumber(held[i]) <= now then found[#found + 1] = member end
      if #found == wanted then return {table.concat(found), 1} end
    end
    if #page < size then return {table.concat(found), 0} end
    from = from + size
  end
end

-- Reserves candidates for a moment and reads them. keys: reservations, then the parts of each candidate; args: how
-- long, how many parts, then the ids. Returns the parts; those of what somebody else has reserved as nothing.
local function reserve(keys, args)
  local now, parts, ids = now_ms(), tonumber(args[2]), #args - 2
  redis.call('ZREMRANGEBYSCORE', keys[1], '-inf', now)
  local until_ms = now + tonumber(args[1])
  local read, taken, wanted, places = {}, {}, {}, {}
  in_slices(1, ids, function(first, last)
    local held = redis.call('ZMSCORE', keys[1], unpack(args, 2 + first, 2 + last))
    for i = first, last do
      local free = not held[i - first + 1]
      if free then
        taken[#taken + 1] = until_ms
        taken[#taken + 1] = args[2 + i]
      end
      for part = (i - 1) * parts + 1, i * parts do
        read[part] = false
        if free then
          wanted[#wanted + 1] = keys[1 + part]
          places[#places + 1] = part
        end
      end
    end
  end)
  in_slices(1, #taken, function(first, last) redis.call('ZADD', keys[1], unpack(taken, first, last)) end)
  in_slices(1, #wanted, function(first, last)
    for i, value in ipairs(redis.call('MGET', unpack(wanted, first, last))) do read[places[first + i - 1]] = value end
  end)
  return read
end

-- The queues of a lane that have members. keys: the lane's queues; args: start and end of their keys, how far to count.
local function heads(keys, args)
  local found = {}
  local all = redis.call('HGETALL', keys[1])
  local count_max = tonumber(args[3])
  for i = 1, #all, 2 do
    local queue = args[1] .. all[i] .. args[2]
    local first = redis.call('ZRANGE', queue, 0, 0)[1]
    if first then found[#found + 1] = {all[i + 1], first, math.min(redis.call('ZCARD', queue), count_max)} end
  end
  return found
end

-- The oldest member of the queues of a lane: the first of each priority. Same keys and args; the last one bounds how
-- many priorities of a queue are looked at.
local function oldest(keys, args)
  local best
  for _, field in ipairs(redis.call('HKEYS', keys[1])) do
    local queue, from = args[1] .. field .. args[2], '-'
    for _ = 1, tonumber(args[3]) do
      local member = redis.call('ZRANGE', queue, from, '+', 'BYLEX', 'LIMIT', 0, 1)[1]
      if not member then break end
      local at = 0
      for i = 5, 12 do at = at * 256 + string.byte(member, i) end
      if not best or at < best then best = at end
      from = '(' .. string.sub(member, 1, 4) .. string.rep('\255', 24)
    end
  end
  return best and string.format('%.0f', best) or false
end

local function number(bytes, at, size)
  local value = 0
  for i = at, at + size - 1 do value = value * 256 + string.byte(bytes, i) end
  return value
end

-- Where in an entry's events the one of that place stands, and how long it is.
local function find_event(events, place)
  local at = 1
  while at < #events do
    local size = 6 + number(events, at + 2, 4)
    if number(events, at, 2) == place then return at, size end
    at = at + size
  end
end

-- Events of one execution are chained from the newest back, and those of operators once more, because they are kept
-- longer. keys: log; args: entry and place of the first, behind which entry and place to stop, how far to walk, whether
-- by operator events only. Returns where to go on (entry 0: the end), whether the chain broke off there because the
-- entry is gone, and the number of its entry and the bytes of each event.
local function history(keys, args)
  local entry, place = tonumber(args[1]), tonumber(args[2])
  local behind = tonumber(args[3]) * PLACES + tonumber(args[4])
  local by_operator = args[6] == '1'
  local chain, loaded, events, cut = {}, nil, nil, 0
  for _ = 1, tonumber(args[5]) do
    if entry * PLACES + place <= behind then entry = 0 end
    if entry == 0 then break end
    if loaded ~= entry then
      local row = redis.call('XRANGE', keys[1], entry_id(entry), entry_id(entry))[1]
      loaded, events = entry, row and row[2][6] or ''
    end
    local at, size = find_event(events, place)
    if not at then
      entry, cut = 0, 1
      break
    end
    chain[#chain + 1] = string.format('%.0f', entry)
    chain[#chain + 1] = string.sub(events, at, at + size - 1)
    -- What the event before is named by, its entry and place: 0 none, 1 an entry of the log, 2 so many entries back.
    local from = by_operator and at + size - 11 or at + 6
    local kind, other = string.byte(events, from), number(events, from + 1, 8)
    place = number(events, from + 9, 2)
    entry = (kind == 0 and 0) or (kind == 1 and other) or entry - other
  end
  return {string.format('%.0f', entry), place, cut, chain}
end

-- Removes old entries. keys: log, its head; args: older than, those of operators older than, how many events at most,
-- which an entry may exceed. Operator events stay behind, as the audit log, until their own time is over.
local function trim(keys, args)
  local limit, removed = tonumber(args[3]), 0
  local function walk(field, until_ms, name, stop)
    local from = tonumber(redis.call('HGET', keys[2], field) or '1')
    local first, going = from, true
    while going do
      local page = redis.call('XRANGE', keys[1], entry_id(from), '+', 'COUNT', 32)
      going = #page > 0
      for _, entry in ipairs(page) do
        local seq = tonumber(string.sub(entry[1], 3))
        local at, kind, count = tonumber(entry[2][2]), entry[2][3], tonumber(entry[2][4])
        going = seq < stop and at < until_ms and removed < limit
        if not going then break end
        if kind == name then
          redis.call('XDEL', keys[1], entry[1])
          if kind == 'a' then redis.call('ZREM', audit_of(keys[1]), audit_member(seq)) end
          removed = removed + count
        end
        from = seq + 1
      end
    end
    if from > first then redis.call('HSET', keys[2], field, string.format('%.0f', from)) end
    return from
  end
  local first = walk('first', tonumber(args[1]), 'n', math.huge)
  walk('audit', tonumber(args[2]), 'a', first)
  return removed
end

redis.register_function('ff_commit', commit)
-- The same for units that only remove: a server that is full lets them pass, so that retention makes room.
redis.register_function{function_name = 'ff_erase', callback = commit, flags = {'allow-oom'}}
redis.register_function('ff_adopt', adopt)
redis.register_function('ff_reserve', reserve)
redis.register_function('ff_trim', trim)
redis.register_function{function_name = 'ff_peek', callback = peek, flags = {'no-writes'}}
redis.register_function{function_name = 'ff_heads', callback = heads, flags = {'no-writes'}}
redis.register_function{function_name = 'ff_oldest', callback = oldest, flags = {'no-writes'}}
redis.register_function{function_name = 'ff_history', callback = history, flags = {'no-writes'}}
redis.register_function{
  function_name = 'ff_version', callback = function() return LIBRARY_VERSION end, flags = {'no-writes'}
}
