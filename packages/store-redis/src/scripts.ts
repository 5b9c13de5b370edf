/** What changes a session, each as one script: Redis runs it as a whole, with nothing in between. */
import { createHash } from "node:crypto"

export interface Script {
  readonly source: string
  readonly sha: string
}

const script = (source: string): Script => ({
  source,
  sha: createHash("sha1").update(source).digest("hex"),
})

/**
 * Appends a batch, or rewrites records and appends one.
 *
 * Everything is looked at before anything is written, and the first write is one that a full server refuses: so it
 * is all of the batch or nothing. Of the answers `duplicate` and `appended` say where the batch stands.
 */
export const write = script(`
local log, meta, commits, sessions, snapshot, summary, draft = unpack(KEYS)
local session, commit, expected, after = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local count, messages, rewrites = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local changes, prepared, projection = ARGV[8], ARGV[9], ARGV[10]
local publish, touch = ARGV[11], ARGV[12]
local at = 12

local before = redis.call('HGET', commits, commit)
if before then
  -- WAIT goes by the last write of its connection, which may be a new one.
  if touch == '1' then redis.call('HSET', meta, 'version', redis.call('HGET', meta, 'version')) end
  local from, version = string.match(before, '^(%d+)-(%d+)$')
  return {'duplicate', from, version}
end

local head = redis.call('HMGET', meta, 'version', 'commit', 'running', 'pruning', 'messages', 'active')
local actual = tonumber(head[1] or '0')
local last, running, pruning = head[2] or '', head[3] or '', head[4] or '0'
local total, active = tonumber(head[5] or '0'), head[6] or ''
if actual ~= expected or (after ~= '' and after ~= '=' .. last) then
  return {'conflict', head[1] or '0'}
end
local length = redis.call('XLEN', log)
if length ~= actual then return {'damaged', tostring(length), head[1] or '0'} end

if changes ~= '' then
  -- What the batch does to the summaries was worked out on the log that ends with this commit.
  if prepared ~= '=' .. last then return {'unprepared'} end
  local list = cjson.decode(changes)
  local superseded = {}
  for _, change in ipairs(list) do
    if change[1] == 'superseded' then superseded[change[2]] = true end
  end
  for _, change in ipairs(list) do
    local what, id = change[1], change[2]
    if what == 'started' then
      running, pruning = id, change[3]
    elseif what == 'ended' then
      if running == id then running = '' end
    elseif what == 'pruned' then
      if running == id and pruning == '1' then running = '' end
    elseif what == 'committed' then
      if running == id then
        if active ~= '' and not superseded[active] then return {'second', active, change[3]} end
        active, running = change[3], ''
      end
    elseif what == 'cleared' then
      active, running, total = '', '', 0
    elseif what == 'active' then
      active = id
    end
  end
end

if rewrites > 0 then
  local changed = {}
  for _ = 1, rewrites do
    changed[ARGV[at + 1]] = {ARGV[at + 2], ARGV[at + 3]}
    at = at + 3
  end
  local start = '-'
  while start do
    local page = redis.call('XRANGE', log, start, '+', 'COUNT', 100)
    start = nil
    for _, entry in ipairs(page) do
      local id, fields = entry[1], entry[2]
      local seq = string.match(id, '^%d+')
      local change = changed[seq]
      if change then
        local kept = {}
        for position = 1, #fields, 2 do
          local name = fields[position]
          if name ~= 'k' and name ~= 'd' then
            kept[#kept + 1] = name
            kept[#kept + 1] = fields[position + 1]
          end
        end
        if change[1] ~= '' then
          kept[#kept + 1] = 'k'
          kept[#kept + 1] = change[1]
        end
        kept[#kept + 1] = 'd'
        kept[#kept + 1] = change[2]
        fields = kept
      end
      redis.call('XADD', draft, id, unpack(fields))
      start = string.format('%.0f', tonumber(seq) + 1) .. '-0'
    end
  end
  redis.call('UNLINK', log, snapshot)
  redis.call('RENAME', draft, log)
end

local created, updated = ARGV[at + 1], ARGV[at + 1]
for position = 1, count do
  local id = string.format('%.0f-0', actual + position)
  local time, type, version, checksum, data = unpack(ARGV, at + 1, at + 5)
  if checksum == '' then
    redis.call('XADD', log, id, 't', type, 'v', version, 'a', time, 'c', commit, 'd', data)
  else
    redis.call('XADD', log, id, 't', type, 'v', version, 'a', time, 'c', commit, 'k', checksum, 'd', data)
  end
  updated = time
  at = at + 5
end

local from, version = string.format('%.0f', actual + 1), string.format('%.0f', actual + count)
redis.call('HSET', commits, commit, from .. '-' .. version)
if actual == 0 then
  redis.call('HSET', meta, 'created', created)
  redis.call('ZADD', sessions, 0, session)
end
redis.call('HSET', meta, 'version', version, 'commit', commit, 'updated', updated,
  'messages', string.format('%.0f', total + messages))
if changes ~= '' then
  redis.call('HSET', meta, 'running', running, 'pruning', pruning, 'active', active)
  if projection ~= '' then
    redis.call('UNLINK', summary)
    if active ~= '' then redis.call('HSET', summary, unpack(cjson.decode(projection))) end
  end
end
-- Who is not allowed to publish may append all the same.
if publish ~= '' then redis.pcall(publish, log, version) end
return {'appended', from, version}
`)

/** Keeps a snapshot of the log as it is now, and no other. */
export const saveSnapshot = script(`
local head = redis.call('HMGET', KEYS[1], 'version', 'commit')
if head[1] ~= ARGV[2] or head[2] ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[2], 'fold', ARGV[1], 'version', ARGV[2], 'commit', ARGV[3], 'data', ARGV[4])
return 1
`)

/** Removes a session. What it takes up is freed beside the server's work, however much it is. */
export const remove = script(`
local log, meta, commits, sessions, snapshot, summary = unpack(KEYS)
if redis.call('EXISTS', meta, log) == 0 then return 0 end
redis.call('ZREM', sessions, ARGV[1])
redis.call('UNLINK', log, meta, commits, snapshot, summary)
if ARGV[2] ~= '' then redis.pcall(ARGV[2], log, '0') end
return 1
`)
