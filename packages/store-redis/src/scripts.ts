/** Everything that changes a session: one script for each operation, which Redis runs without anything in between. */
import { createHash } from "node:crypto"

export interface Script {
  readonly source: string
  readonly sha: string
}

/** A script with the name that Redis gives it. */
export const script = (source: string): Script => ({
  source,
  sha: createHash("sha1").update(source).digest("hex"),
})

/** The pattern of the version and the batch in the field `head`, in Lua. */
export const partsOfHead = "'^(%d+) (.*) %S+$'"

/** The command that tells listeners; `SPUBLISH` keeps a message on the servers of the session's slot. */
export type Publish = "PUBLISH" | "SPUBLISH"

/**
 * Appends a batch; may change summary rows and rewrite records with it. Everything is checked before anything is written.
 * The first write is an `XADD`, which a full server refuses, and no write after it can fail: the batch is stored as a
 * whole or not at all.
 *
 * Most of a script's time goes into passing arguments and making texts, so an append passes few and makes none: one field,
 * `head`, is all it reads of a session, and it only compares its start. The arguments are:
 *
 * - the batch id; the expected version; the start that `head` has then: `VERSION BATCH `, or `VERSION ` if the batch is not
 *   known; the next `head`; and the position of the first record's argument: 6 if nothing but records follows. With a minus,
 *   retries look for the batch in its place alone
 * - otherwise `1` to change the owner and the title (empty to keep them), the new ones, each behind `=`, or empty for none,
 *   `1` to change summary rows, `1` to remove all summary rows first (empty to keep them), the number of rows, each row's version, status,
 *   id as JSON, and JSON, and then each record to rewrite: its version, schema version with checksum, and data
 * - the header and the data of each record to append
 *
 * A plain append passes only the first two keys, or three if it starts the session.
 */
const append = (publish: Publish): string => `
local log, meta, sessions, summaries = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local snapshot, draft, unfinished = KEYS[5], KEYS[6], KEYS[7]
local batch, expected, after, first = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[5])
local inPlace = first < 0
if inPlace then first = -first end

local head, range
if inPlace then
  head = redis.call('HGET', meta, 'head')
else
  local found = redis.call('HMGET', meta, 'head', '=' .. batch)
  head, range = found[1], found[2]
end
local version = '0'
-- Behind the batch, which may have spaces, there is only a time, which has none.
local isAsExpected = head and string.sub(head, 1, #after) == after and not string.find(head, ' ', #after + 1, true)
if isAsExpected then version = expected
elseif head then version = string.match(head, ${partsOfHead}) end
if inPlace and head and version ~= expected then
  local function batchAt(number)
    local entry = redis.call('XRANGE', log, number, number)[1]
    return entry and entry[2][4]
  end
  local from = string.format('%.0f', tonumber(expected) + 1)
  if batchAt(from) == batch and batchAt(expected) ~= batch then
    range = from .. '-' .. string.format('%.0f', tonumber(expected) + (#ARGV - first + 1) / 2)
  end
end
if range then
  -- WAIT waits for the last write of its connection, and the connection may be new: write something. A server that
  -- refuses writes promises nothing, except a full one, which has the batch nevertheless.
  local field, value = '=' .. batch, range
  if inPlace then field, value = 'head', head end
  local touched = redis.pcall('HSET', meta, field, value)
  local refused = type(touched) == 'table' and touched.err
  if refused and not string.find(refused, 'OOM', 1, true) then return touched end
  local from, to = string.match(range, '^(%d+)-(%d+)$')
  if not from then return {'damaged', 'no', range} end
  return {'duplicate', from, to, refused and 'full' or ''}
end
local length = redis.call('XLEN', log)
if tostring(length) ~= version then return {'damaged', tostring(length), version or head} end
if version ~= expected or (#after > #expected + 1 and not isAsExpected) then return {'conflict', version} end
-- Another program's key in place of the list has to fail before anything is written.
if version == '0' then redis.call('ZCARD', sessions) end

local active, rows, becomes, changed, unowned, owned
-- The key of its log ends with the session's name, and all keys of a bucket start alike.
if first > 6 and ARGV[6] ~= '' then
  local start = string.sub(sessions, 1, #sessions - #'sessions') .. 'owned:'
  local before = redis.call('HGET', meta, 'owner')
  if before then unowned = start .. before end
  if ARGV[7] ~= '' then owned = start .. string.sub(ARGV[7], 2) end
  -- Another program's keys have to fail before anything is written.
  if unowned then redis.call('SCARD', unowned) end
  if owned then redis.call('SCARD', owned) end
end
if first > 6 and ARGV[9] ~= '' then
  rows = tonumber(ARGV[11])
  redis.call('HLEN', summaries)
  active = ARGV[10] == '' and redis.call('HGET', meta, 'active') or ''
  becomes = {}
  for at = 12, 11 + 4 * rows, 4 do becomes[ARGV[at]] = ARGV[at + 1] == 'active' end
  if becomes[active] == false then active = '' end
  for row, is in pairs(becomes) do
    if is and row ~= active then
      if active ~= '' then return {'two active', active, row} end
      active = row
    end
  end
  local ids = {}
  for at = 12, 11 + 4 * rows, 4 do
    if ids[ARGV[at + 2]] then return {'two of one id', ids[ARGV[at + 2]], ARGV[at]} end
    ids[ARGV[at + 2]] = ARGV[at]
  end
  if ARGV[10] == '' and rows > 0 then
    -- A quote inside a JSON string has a backslash: this is found nowhere but in the row's own field.
    local kept = redis.call('HGETALL', summaries)
    for place = 1, #kept, 2 do
      if becomes[kept[place]] == nil then
        for id, row in pairs(ids) do
          if string.find(kept[place + 1], '"id":' .. id, 1, true) then return {'two of one id', kept[place], row} end
        end
      end
    end
  end
  if unfinished then redis.call('HLEN', unfinished) end
  for at = 12 + 4 * rows, first - 1, 3 do
    changed = changed or {}
    changed[ARGV[at]] = {ARGV[at + 1], ARGV[at + 2]}
  end
end

local target = log
if changed then
  target = draft
  local start = '-'
  while start do
    local page = redis.call('XRANGE', log, start, '+', 'COUNT', 100)
    start = nil
    for _, entry in ipairs(page) do
      local id, fields = entry[1], entry[2]
      local number = string.match(id, '^%d+')
      local change = changed[number]
      if change then
        local header = string.gsub(fields[2], '^(%S+) %S+ %S+', '%1 ' .. change[1])
        redis.call('XADD', draft, id, 'h', header, 'b', fields[4], 'd', change[2])
      else
        redis.call('XADD', draft, id, unpack(fields))
      end
      start = string.format('%.0f', tonumber(number) + 1) .. '-0'
    end
  end
end

-- Redis writes a number that it is passed with all of its digits.
local number = tonumber(version)
for at = first, #ARGV, 2 do
  number = number + 1
  redis.call('XADD', target, number, 'h', ARGV[at], 'b', batch, 'd', ARGV[at + 1])
end
if changed then
  redis.call('UNLINK', log, snapshot)
  redis.call('RENAME', draft, log)
  -- The key of its log ends with the session's name, and all keys of a bucket start alike.
  redis.call('HSET', unfinished, string.sub(log, #sessions - #'sessions' + #'log:' + 1), batch)
end
if inPlace then redis.call('HSET', meta, 'head', ARGV[4])
else redis.call('HSET', meta, 'head', ARGV[4], '=' .. batch, string.format('%.0f-%.0f', version + 1, number)) end
if active then
  redis.call('HSET', meta, 'active', active)
  for at = 12, 11 + 4 * rows, 4 do redis.call('HSET', summaries, ARGV[at], ARGV[at + 3]) end
  if ARGV[10] ~= '' then
    -- Field by field: in a slot that is being moved, a script may not use a key again that it has removed.
    for _, row in ipairs(redis.call('HKEYS', summaries)) do
      if becomes[row] == nil then redis.call('HDEL', summaries, row) end
    end
  end
end
if first > 6 and ARGV[6] ~= '' then
  local name = string.sub(log, #sessions - #'sessions' + #'log:' + 1)
  if unowned and unowned ~= owned then redis.call('SREM', unowned, name) end
  if owned then redis.call('SADD', owned, name) end
  for place, field in ipairs({'owner', 'title'}) do
    local value = ARGV[6 + place]
    if value == '' then redis.call('HDEL', meta, field) else redis.call('HSET', meta, field, string.sub(value, 2)) end
  end
end
if expected == '0' then
  redis.call('HSET', meta, 'created', string.match(ARGV[first], '^%S+'))
  -- The key of its log ends with the session's name, and all keys of a bucket start alike.
  redis.call('ZADD', sessions, 0, string.sub(log, #sessions - #'sessions' + #'log:' + 1))
end
-- A user who may not publish may append.
redis.pcall('${publish}', log, number)
return 1
`

/** Keeps a snapshot if it is of the log as it is now. */
const saveSnapshot = `
local meta, snapshot = unpack(KEYS)
local foldVersion, version, batch, data = unpack(ARGV)
local head = redis.call('HGET', meta, 'head') or ''
local now, last = string.match(head, ${partsOfHead})
if now ~= version or last ~= batch then return 0 end
redis.call('HSET', snapshot, 'foldVersion', foldVersion, 'version', version, 'batch', batch, 'data', data)
return 1
`

/**
 * Removes a session if its head is still the given one, or has the batch of that head before it. A request that arrives
 * late, after it was sent again, does not remove a session that was started in between. `UNLINK` frees the memory in the
 * background.
 */
const remove = (publish: Publish): string => `
local log, meta, sessions, snapshot, summaries = unpack(KEYS)
local name, head = unpack(ARGV)
if redis.call('EXISTS', meta, log) == 0 then return 0 end
if (redis.call('HGET', meta, 'head') or '') ~= head then
  local version, last = string.match(head, ${partsOfHead})
  local there = version and redis.call('XRANGE', log, version, version)[1]
  if not there or there[2][4] ~= last then return -1 end
end
local owner = redis.call('HGET', meta, 'owner')
if owner then
  redis.call('SREM', string.sub(sessions, 1, #sessions - #'sessions') .. 'owned:' .. owner, name)
end
redis.call('ZREM', sessions, name)
redis.call('UNLINK', log, meta, snapshot, summaries)
redis.pcall('${publish}', log, '0')
return 1
`

/** Takes a rewrite off the list of unfinished ones, unless there was another one of the session meanwhile. */
const finished = `
local session, batch = unpack(ARGV)
if redis.call('HGET', KEYS[1], session) ~= batch then return 0 end
return redis.call('HDEL', KEYS[1], session)
`

export const make = (publish: Publish) => ({
  append: script(append(publish)),
  saveSnapshot: script(saveSnapshot),
  remove: script(remove(publish)),
  finished: script(finished),
})
