/**
 * Everything that changes a session, and the pages of its log: one script for each operation, which Redis runs without anything in between.
 *
 * The first argument of a script is a JSON object, which names what it is given. Texts that a script only stores follow as
 * arguments of their own, and no script reads them: the headers and the data of records, and the data of rows.
 *
 * A cluster has to know the keys of a script: while a slot is being moved, a script can use no other key. The caller names the
 * keys that follow from its arguments. Only a script knows for sure which kinds of rows and which owner a session has: it
 * answers with `keys` and the keys that it misses, before it uses one of them, and its caller sends it again with these keys.
 *
 * A script checks everything before it writes anything, and so reads all JSON that another program may have damaged. The first
 * write of an append is an `XADD`, or the count of the numbers of sessions, which a full server refuses, and no write after it can fail: a batch is stored as a whole or
 * not at all.
 */
import { EventLog } from "@memfold/log"
import { createHash } from "node:crypto"
import {
  addedRecords,
  beginning,
  checkedPosition,
  description,
  entered,
  partsOfHead,
  plannedChanges,
  type Publish,
  rows,
  written,
} from "./scriptParts.js"

export interface Script {
  readonly source: string
  readonly sha: string
}

/** A script with the name that Redis gives it. */
const script = (source: string): Script => ({
  source,
  sha: createHash("sha1").update(source).digest("hex"),
})

const append = (publish: Publish): string => `
${beginning}${rows}${description}${checkedPosition}
${plannedChanges("2 + 2 * given.count")}
${addedRecords("log")}
${written(publish)}
`

/**
 * Rewrites records and appends a batch. It makes a draft of the log, which takes its place. Given are also the versions, schema
 * versions and checksums of the records to rewrite; their data are the last arguments. All rows of the session are dropped
 * but for its description, and the rewrite is listed as unfinished until the servers' files no longer have the old data.
 */
const rewrite = (publish: Publish): string => `
${beginning}${rows}${description}${checkedPosition}
local draft, unfinished = keyOf('draft'), bucket .. 'unfinished'
redis.call('HLEN', unfinished)
kinds = kindsOf()
for _, kind in ipairs(kinds) do needed(rowsKey(kind)) end
if not missing[2] then
  for _, kind in ipairs(kinds) do planOf(kind).replaces, planOf(kind).marks = true, {} end
end
${plannedChanges("2 + 2 * given.count")}
local changed = {}
for place, record in ipairs(given.rewritten) do
  changed[record.version] = {record.form, ARGV[#ARGV - #given.rewritten + place]}
end

local from = '-'
while from do
  local page = redis.call('XRANGE', log, from, '+', 'COUNT', 100)
  from = nil
  for _, entry in ipairs(page) do
    local id, fields = entry[1], entry[2]
    local number = string.match(id, '^%d+')
    local change = changed[number]
    if change and #fields ~= 6 then
      -- Another program's entry. What is left of a draft would be in the way of the next one.
      redis.call('UNLINK', draft)
      return {'damaged', 'no', number}
    elseif change then
      local header = string.gsub(fields[2], '^(%S+) %S+ %S+', '%1 ' .. change[1])
      redis.call('XADD', draft, id, 'h', header, 'b', fields[4], 'd', change[2])
    else
      redis.call('XADD', draft, id, unpack(fields))
    end
    from = digits(tonumber(number) + 1) .. '-0'
  end
end
${addedRecords("draft")}
redis.call('UNLINK', log)
redis.call('RENAME', draft, log)
redis.call('HSET', unfinished, given.name, batch)
${written(publish)}
`

/**
 * Changes rows and the description of a session, if it is still at a position (`given.at`); without a position, in any case. A
 * session that does not exist has none.
 */
const projections = `
${beginning}${rows}${description}
local head = redis.call('HGET', meta, 'head')
local version, last = string.match(head or '', ${partsOfHead})
if given.at and (version ~= given.at.version or last ~= given.at.batch) then
  return not version and given.at.version == '0' and 'done' or {'conflict', version or '0'}
end
if not version then return 'done' end
${plannedChanges("2")}
writeRows()
if given.description then writeDescription() end
return 'done'
`

/**
 * Removes a session if its head is still the given one, or has the batch of that head before it. With `only`, its head must begin so. A request that arrives
 * late, after it was sent again, does not remove a session that was started in between. `UNLINK` frees the memory in the
 * background. As a rewrite, it is listed as unfinished until the servers' files no longer have the session.
 */
const remove = (publish: Publish): string => `
${beginning}
if redis.call('EXISTS', meta, log) == 0 then return 0 end
if given.only and string.sub(redis.call('HGET', meta, 'head') or '', 1, #given.only) ~= given.only then return 0 end
if (redis.call('HGET', meta, 'head') or '') ~= given.head then
  local version, last = string.match(given.head, ${partsOfHead})
  local there = version and redis.call('XRANGE', log, version, version)[1]
  if not there or there[2][4] ~= last then return -1 end
end
local owner, kinds, sessions = redis.call('HGET', meta, 'owner'), kindsOf(), bucket .. 'sessions'
local unfinished = bucket .. 'unfinished'
local owned = owner and needed(bucket .. 'owned:' .. owner)
for _, kind in ipairs(kinds) do needed(rowsKey(kind)) end
if missing[2] then return missing end
-- Another program's keys fail here, before anything is written.
redis.call('ZCARD', sessions)
redis.call('HLEN', bucket .. 'numbers')
redis.call('HSET', unfinished, given.name, 'deleted ' .. (redis.call('HGET', meta, 'head') or ''))
if owned then redis.call('SREM', owned, given.name) end
redis.call('ZREM', sessions, given.name)
for _, kind in ipairs(kinds) do redis.call('UNLINK', rowsKey(kind)) end
local number = string.match(redis.call('HGET', meta, 'fed') or '', '^%d+')
if number then redis.call('HDEL', bucket .. 'numbers', number) end
redis.call('UNLINK', log, meta)
redis.pcall('${publish}', log, '0')
return 1
`

/** Takes a rewrite off the list of unfinished ones, unless there was another one of the session meanwhile. */
const finished = `
local given = cjson.decode(ARGV[1])
if redis.call('HGET', KEYS[1], given.name) ~= given.batch then return 0 end
return redis.call('HDEL', KEYS[1], given.name)
`

/** Enters a session of an older memfold in the feed, as far as it is not. */
const enters = `
${beginning}${entered}
local found = redis.call('HMGET', meta, 'head', 'fed')
local version = tonumber((string.match(found[1] or '', ${partsOfHead})))
fed = found[2] or nil
if not version or version <= tonumber(string.match(fed or '', '%d+$') or '0') then return 0 end
redis.call('HSET', meta, 'fed', enter(version))
return 1
`

/** Reads a page of a log, a few entries at a time: each may be as large as a request, and none is answered behind the one that ends the page. */
const pages = `
local function pageOf(log, command, from, to, limit)
  local found, text = {}, 0
  while #found < limit do
    local count = math.min(limit - #found, 16)
    local part = redis.call(command, log, from, to, 'COUNT', count)
    for _, entry in ipairs(part) do
      found[#found + 1] = entry
      text = text + #(entry[2][6] or '')
      if text >= ${EventLog.pageText} then return found end
    end
    if #part < count then break end
    from = '(' .. part[count][1]
  end
  return found
end
`

/** A page of a log. Given are the command, the ends of the range in its order, and the limit. */
const page = `
${pages}
return pageOf(KEYS[1], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]))
`

/**
 * What a session is opened with: its head, its snapshot with the mark, its active summary as key and data, and the page from that mark on. Given is the limit of
 * the page. What another program has damaged is an error, behind which the caller asks for one part after the other.
 */
const open = `
${pages}
local head = redis.call('HGET', KEYS[2], 'head')
if not head then return {} end
local function marksOf(rows)
  local field = redis.call('HGET', rows, '@')
  return field and cjson.decode(field) or {}
end
local from, mark = '-', false
local snapshot = redis.call('HGET', KEYS[3], '=')
if snapshot then
  for name, key in pairs(marksOf(KEYS[3])) do
    if key == '' then
      mark = name
      from = string.match(name, '^%d+$') .. '-0'
    end
  end
end
local active = marksOf(KEYS[4])['active'] or false
local summary = active and redis.call('HGET', KEYS[4], '=' .. active)
return {head, snapshot, mark, active, summary, pageOf(KEYS[1], 'XRANGE', from, '+', tonumber(ARGV[1]))}
`

/** The scripts of a log. */
export type Scripts = ReturnType<typeof make>

export const make = (publish: Publish) => ({
  append: script(append(publish)),
  rewrite: script(rewrite(publish)),
  projections: script(projections),
  remove: script(remove(publish)),
  enter: script(`local fed\n${enters}`),
  finished: script(finished),
  page: script(page),
  open: script(open),
})
