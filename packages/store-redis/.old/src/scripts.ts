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

/** How listeners are told; in a cluster by `SPUBLISH`, so that no other server need hear of it. */
export type Publish = "PUBLISH" | "SPUBLISH"

/**
 * How every batch begins: everything is looked at before anything is written.
 *
 * Passing arguments is what costs most of a script's time. So what every append asks of a session is one field, `head`:
 * `VERSION MESSAGES UPDATED COMMIT`; and what a record has beside its commit and its data another, see `put`.
 */
const look = `
local log, meta = KEYS[1], KEYS[2]
local commit, expected, after, added = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local found = redis.call('HMGET', meta, 'head', '=' .. commit)
if found[2] then
  -- WAIT goes by the last write of its connection, which may be a new one. A server that takes no writes promises
  -- nothing, but for a full one, which has the batch all the same.
  local touched = redis.pcall('HSET', meta, '=' .. commit, found[2])
  local refused = type(touched) == 'table' and touched.err
  if refused and not string.find(refused, 'OOM', 1, true) then return touched end
  local from, to = string.match(found[2], '^(%d+)-(%d+)$')
  if not from then return {'damaged', 'no', found[2]} end
  return {'duplicate', from, to, refused and 'full' or ''}
end
local version, messages, last = '0', '0', ''
if found[1] then version, messages, last = string.match(found[1], '^(%d+) (%d+) %S+ (.*)$') end
local length = redis.call('XLEN', log)
if tostring(length) ~= version then return {'damaged', tostring(length), version or found[1]} end
if version ~= expected or (after ~= '' and after ~= '=' .. last) then return {'conflict', version} end
-- A list of sessions that is none is refused before anything is written.
if version == '0' then redis.call('ZCARD', KEYS[3]) end
`

/**
 * How every batch ends: with its records, from the argument `at` on two for each, `TIME VERSION CHECKSUM TYPE` and its
 * data. The first write is one that a full server refuses, and none after it fails, so it is all of the batch or nothing.
 */
const put = (publish: Publish, at: string): string => `
local first = ${at}
local number = tonumber(version)
local from = string.format('%.0f', number + 1)
for position = first, #ARGV, 2 do
  number = number + 1
  version = string.format('%.0f', number)
  redis.call('XADD', log, version, 'h', ARGV[position], 'c', commit, 'd', ARGV[position + 1])
end
messages = string.format('%.0f', messages + added)
redis.call('HSET', meta,
  'head', version .. ' ' .. messages .. ' ' .. string.match(ARGV[#ARGV - 1], '^%S+') .. ' ' .. commit,
  '=' .. commit, from .. '-' .. version)
if expected == '0' then
  local sessions = KEYS[3]
  redis.call('HSET', meta, 'created', string.match(ARGV[first], '^%S+'))
  -- The key of its log ends with a session's name, and all keys of a bucket begin alike.
  redis.call('ZADD', sessions, 0, string.sub(log, #sessions - #'sessions' + #'log:' + 1))
end
-- Who is not allowed to publish may append all the same.
redis.pcall('${publish}', log, version)
`

/** Appends a batch of nothing but messages and the like; nearly all are. Answers 1, or where and why not. */
const append = (publish: Publish): string => `${look}
${put(publish, "5")}
return 1
`

/**
 * Appends a batch that has to do with summaries, or rewrites records and appends one. What it does to the summaries was
 * worked out before, on the log that ends with the commit `prepared`.
 */
const write = (publish: Publish): string => `${look}
local snapshot, summary, draft = KEYS[4], KEYS[5], KEYS[6]
local prepared, changes, projection, rewrites = ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8])
local at = 8

if prepared ~= '=' .. last then return {'unprepared'} end
local state = redis.call('HMGET', meta, 'running', 'pruning', 'active')
local running, pruning, active = state[1] or '', state[2] or '0', state[3] or ''
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
    active, running, messages = '', '', '0'
  elseif what == 'active' then
    active = id
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
        local header = string.gsub(fields[2], '^(%S+ %S+) %S+', '%1 ' .. change[1])
        redis.call('XADD', draft, id, 'h', header, 'c', fields[4], 'd', change[2])
      else
        redis.call('XADD', draft, id, unpack(fields))
      end
      start = string.format('%.0f', tonumber(seq) + 1) .. '-0'
    end
  end
  redis.call('UNLINK', log, snapshot)
  redis.call('RENAME', draft, log)
end

${put(publish, "at + 1")}
redis.call('HSET', meta, 'running', running, 'pruning', pruning, 'active', active)
if projection ~= '' then
  redis.call('UNLINK', summary)
  if active ~= '' then redis.call('HSET', summary, unpack(cjson.decode(projection))) end
end
return 1
`

/** Keeps a snapshot of the log as it is now, and no other. */
const saveSnapshot = `
local head = redis.call('HGET', KEYS[1], 'head') or ''
local version, commit = string.match(head, '^(%d+) %d+ %S+ (.*)$')
if version ~= ARGV[2] or commit ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[2], 'fold', ARGV[1], 'version', ARGV[2], 'commit', ARGV[3], 'data', ARGV[4])
return 1
`

/**
 * Removes a session that is still the one that was looked at, or has gone on from it: a request that comes late, when it
 * was long sent again, must not remove what was begun since. What it takes up is freed beside the server's work, however
 * much it is.
 */
const remove = (publish: Publish): string => `
local log, meta, sessions, snapshot, summary = unpack(KEYS)
if redis.call('EXISTS', meta, log) == 0 then return 0 end
local name, head, last = unpack(ARGV)
local same = (redis.call('HGET', meta, 'head') or '') == head
if not same and (last == '' or redis.call('HEXISTS', meta, '=' .. last) == 0) then return -1 end
redis.call('ZREM', sessions, name)
redis.call('UNLINK', log, meta, snapshot, summary)
redis.pcall('${publish}', log, '0')
return 1
`

export const make = (publish: Publish) => ({
  append: script(append(publish)),
  write: script(write(publish)),
  saveSnapshot: script(saveSnapshot),
  remove: script(remove(publish)),
})
