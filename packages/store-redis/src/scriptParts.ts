/** What the scripts that change a session consist of, in Lua. */

/** The pattern of the version and the batch in the field `head`, in Lua. */
export const partsOfHead = "'^(%d+) (.*) %S+$'"

/** The command that tells listeners; `SPUBLISH` keeps a message on the servers of the session's slot. */
export type Publish = "PUBLISH" | "SPUBLISH"

/** The code of the error of a script that cannot read the kinds of a session. */
export const damagedKinds = "KINDS"

/** What every script begins with. The key of a log is the start of all keys of its bucket, `log:`, and the session's name. */
export const beginning = `
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
export const rows = `
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
export const description = `
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
export const checkedPosition = `
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
export const plannedChanges = (at: string): string => `
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
export const entered = `
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
export const addedRecords = (stream: string): string => `
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
export const written = (publish: Publish): string => `
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
