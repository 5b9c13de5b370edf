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

export interface Script {
  readonly source: string
  readonly sha: string
}

/** A script with the name that Redis gives it. */
const script = (source: string): Script => ({
  source,
  sha: createHash("sha1").update(source).digest("hex"),
})

/** The pattern of the version and the batch in the field `head`, in Lua. */
const partsOfHead = "'^(%d+) (.*) %S+$'"

/** The command that tells listeners; `SPUBLISH` keeps a message on the servers of the session's slot. */
export type Publish = "PUBLISH" | "SPUBLISH"

/** The code of the error of a script that cannot read the kinds of a session. */
export const damagedKinds = "KINDS"

/** What every script begins with. The key of a log is the start of all keys of its bucket, `log:`, and the session's name. */
const beginning = `
local log, meta = KEYS[1], KEYS[2]
local given = cjson.decode(ARGV[1])
local bucket = string.sub(log, 1, #log - #given.name - #'log:')
local function keyOf(kind) return bucket .. kind .. ':' .. given.name end
local function digits(number) return string.format('%.0f', number) end

local missing = {'keys'}
local function needed(key)
  for _, one in ipairs(KEYS) do
    if one == key then return key end
  end
  missing[#missing + 1] = key
  return key
end

-- The strings of a JSON array (keyType is 'number') or object ('string'); nil if the text is anything else.
local function stringsIn(text, keyType)
  local isRead, strings = pcall(cjson.decode, text)
  if not isRead or type(strings) ~= 'table' then return nil end
  for key, value in pairs(strings) do
    if type(key) ~= keyType or type(value) ~= 'string' then return nil end
  end
  return strings
end

local function rowsKey(kind) return keyOf('rows:' .. kind) end
-- A list that cannot be read is no empty list: rows would stay when their session is rewritten or deleted.
local function kindsOf()
  local kinds = stringsIn(redis.call('HGET', meta, 'kinds') or '[]', 'number')
  return kinds or error({err = '${damagedKinds} damaged kinds'})
end
`

/**
 * Changes of rows. The rows of a kind are a hash: `=KEY` has the data of a row, and `@` has the keys of the marked rows, as a JSON
 * object by mark. `meta` has the kinds of a session in its field `kinds`, as a JSON array.
 *
 * `planned` makes a plan of changes, whose data are arguments from a position on, and answers with the kind that would have two
 * rows with one mark, if there is one. `writeRows` carries the plan out.
 */
const rows = `
local plans, kinds = {}, nil
local function planOf(kind)
  local plan = plans[kind]
  if plan then return plan end
  kinds = kinds or kindsOf()
  local key = rowsKey(kind)
  -- Another program's key in its place fails here, before anything is written.
  local field = redis.call('HGET', key, '@')
  -- Marks that another program has changed count as none: a repair writes them again.
  local marks = stringsIn(field or '{}', 'string') or {}
  plan = {key = key, marked = field, marks = marks, sets = {}, drops = {}}
  plans[kind] = plan
  return plan
end

local function unmark(plan, key)
  for mark, marked in pairs(plan.marks) do
    if marked == key then plan.marks[mark] = nil end
  end
end

local function planned(changes, at)
  for _, change in ipairs(changes or {}) do
    local plan = planOf(change.kind)
    if change.replace then plan.replaces, plan.sets, plan.drops, plan.marks = true, {}, {}, {} end
    for _, key in ipairs(change.drop) do
      plan.sets[key], plan.drops[key] = nil, true
      unmark(plan, key)
    end
    for _, row in ipairs(change.rows) do unmark(plan, row.key) end
    for _, row in ipairs(change.rows) do
      local other = row.mark and plan.marks[row.mark]
      if other and other ~= row.key then return change.kind end
      if row.mark then plan.marks[row.mark] = row.key end
      plan.sets[row.key], plan.drops[row.key] = at, nil
      at = at + 1
    end
  end
end

local function writeRows()
  if next(plans) == nil then return end
  local isKnown, before = {}, #kinds
  for _, kind in ipairs(kinds) do isKnown[kind] = true end
  for kind, plan in pairs(plans) do
    if not isKnown[kind] then kinds[#kinds + 1] = kind end
    for key, at in pairs(plan.sets) do redis.call('HSET', plan.key, '=' .. key, ARGV[at]) end
    if next(plan.marks) then redis.call('HSET', plan.key, '@', cjson.encode(plan.marks)) end
    -- Field by field, and last: in a slot that is being moved, a script may not use a key again that it has removed.
    local gone = {}
    if plan.replaces then
      for _, field in ipairs(redis.call('HKEYS', plan.key)) do
        if field ~= '@' and not plan.sets[string.sub(field, 2)] then gone[#gone + 1] = field end
      end
    else
      for key in pairs(plan.drops) do gone[#gone + 1] = '=' .. key end
    end
    if plan.marked and not next(plan.marks) then gone[#gone + 1] = '@' end
    for _, field in ipairs(gone) do redis.call('HDEL', plan.key, field) end
  end
  if #kinds > before then redis.call('HSET', meta, 'kinds', cjson.encode(kinds)) end
end
`

/**
 * Changes of the description: the fields `described`, `owner` and `title` of `meta`, and in each bucket a set of the names of an
 * owner's sessions. `given.description` has `isSet`, and an owner and a title if there are any.
 */
const description = `
local unowned, owned
local function ownedKey(owner) return owner and needed(bucket .. 'owned:' .. owner) end
local function planDescription()
  unowned, owned = ownedKey(redis.call('HGET', meta, 'owner')), ownedKey(given.description.owner)
end
-- Another program's keys fail here, before anything is written.
local function checkDescription()
  if unowned then redis.call('SCARD', unowned) end
  if owned then redis.call('SCARD', owned) end
end

local function writeDescription()
  if unowned and unowned ~= owned then redis.call('SREM', unowned, given.name) end
  if owned then redis.call('SADD', owned, given.name) end
  local described = given.description
  for field, value in pairs({described = described.isSet and '1', owner = described.owner or false, title = described.title or false}) do
    if value then redis.call('HSET', meta, field, value) else redis.call('HDEL', meta, field) end
  end
end
`

/**
 * Checks the batch id and the position of a write. Given are the batch id, the expected version, the start that `head` has then
 * (`VERSION BATCH `, or `VERSION ` if the batch is not known), the next `head`, the number of records, and whether retries look
 * for the batch in its place alone.
 *
 * Most of a script's time goes into making texts: one field, `head`, is all that an append reads of a session, and it only
 * compares its start.
 */
const checkedPosition = `
local batch, expected, after, inPlace = given.batch, given.expected, given.after, given.inPlace
local head, fed, range
if inPlace then
  local found = redis.call('HMGET', meta, 'head', 'fed')
  head, fed = found[1], found[2]
else
  local found = redis.call('HMGET', meta, 'head', 'fed', '=' .. batch)
  head, fed, range = found[1], found[2], found[3]
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
  local from = digits(tonumber(expected) + 1)
  if batchAt(from) == batch and batchAt(expected) ~= batch then
    range = from .. '-' .. digits(tonumber(expected) + given.count)
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
local sessions = version == '0' and bucket .. 'sessions'
-- Another program's key in place of the list has to fail before anything is written.
if sessions then redis.call('ZCARD', sessions) end
`

/** Plans the given changes, whose data are arguments from a position on: all that can refuse them comes before the first write. */
const plannedChanges = (at: string): string => `
if given.description then planDescription() end
if missing[2] then return missing end
local refused = planned(given.changes, ${at})
if refused then return {'two marks', refused} end
if given.description then checkDescription() end
`

/**
 * Enters versions up to one in the feed. `fed` is the number of the session and the version up to which it is entered, in `meta`: what an
 * older memfold has written is entered by the next write. A number ends with its session, so that the feed keeps no name.
 */
const entered = `
local feed, numbers = bucket .. 'feed', bucket .. 'numbers'
local function enter(upTo)
  local session, before = string.match(fed or '', '^(%d+) (%d+)$')
  if not session then
    session, before = digits(redis.call('HINCRBY', numbers, '#', 1)), '0'
    redis.call('HSET', numbers, session, given.name)
  end
  local from, to = digits(tonumber(before) + 1), digits(upTo)
  local range = from == to and to or from .. '-' .. to
  redis.call('XADD', feed, '*', 's', session, 'v', range)
  return session .. ' ' .. digits(upTo)
end
`

/** Adds the records, whose headers and data are the arguments from the second one on, to a stream. */
const addedRecords = (stream: string): string => `
${entered}
-- Until somebody reads the feed, nothing is written to it.
if fed or redis.call('HEXISTS', numbers, '@') == 1 then fed = enter(tonumber(version) + given.count) end
-- Redis writes a number that it is passed with all of its digits.
local number = tonumber(version)
for at = 2, 1 + 2 * given.count, 2 do
  number = number + 1
  redis.call('XADD', ${stream}, number, 'h', ARGV[at], 'b', batch, 'd', ARGV[at + 1])
end
`

/** Writes what goes with the records, and tells listeners. */
const written = (publish: Publish): string => `
if sessions then
  redis.call('HSET', meta, 'created', string.match(ARGV[2], '^%S+'))
  redis.call('ZADD', sessions, 0, given.name)
end
if inPlace then redis.call('HSET', meta, 'head', given.head)
else redis.call('HSET', meta, 'head', given.head, '=' .. batch, digits(version + 1) .. '-' .. digits(number)) end
if fed then redis.call('HSET', meta, 'fed', fed) end
writeRows()
if given.description then writeDescription() end
-- A user who may not publish may append.
redis.pcall('${publish}', log, number)
return 1
`

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
