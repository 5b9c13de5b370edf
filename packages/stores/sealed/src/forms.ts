/** Records, rows and titles as the store gets them, and as they were. */
import { EventLog } from "@memfold/log"
import type { ProjectionChange, ProjectionRow } from "@memfold/log/EventLog"
import { Effect, Either } from "effect"
import { type BoundText, hiddenKey, isInTheClear, sealTexts, type SessionKeys } from "./seal.js"
import { describedBy, failure, type Operation, type Sealer } from "./sealer.js"

/** The kind of rows that a store makes readable for people: under another word, it keeps them as they are. */
const kinds: ReadonlyMap<string, string> = new Map([["summary", "sealed-summary"]])
/** The kind that the store gets. */
export const kindOf = (kind: string): string => kinds.get(kind) ?? kind

/** The kind of rows whose keys tell of words: the buckets of the index are chosen by terms. */
export const isHidden = (kind: string): boolean => kind === "index"

/** What a record is bound to: to stand at another place, it would have to be sealed again. */
const placeOfRecord = (session: string, version: number, type: string, schemaVersion: number): string =>
  JSON.stringify(["record", session, version, type, schemaVersion])
const placeOfRow = (session: string, kind: string, key: string): string =>
  JSON.stringify(["row", session, kind, key])
const placeOfTitle = (session: string): string => JSON.stringify(["title", session])

/** A record as a text that is bound to its place. Its checksum is in the text, of which it tells. */
const boundRecord = (
  session: string,
  version: number,
  { type, schemaVersion, data, checksum }: Omit<EventLog.NewRecord, "time">,
): BoundText => ({
  text: `${checksum ?? ""}\n${data}`,
  about: placeOfRecord(session, version, type, schemaVersion),
})

const withoutChecksum = (text: string): { readonly data: string; readonly checksum?: number } => {
  const end = text.indexOf("\n")
  const checksum = text.slice(0, end)
  return { data: text.slice(end + 1), ...(checksum === "" ? {} : { checksum: Number(checksum) }) }
}

/** A record with the text that its data has. One from before the store was sealed is as it was. */
const withText = (record: EventLog.LogRecord, text: string): EventLog.LogRecord => {
  if (text === record.data) return record
  const { checksum: _checksum, ...rest } = record
  return { ...rest, ...withoutChecksum(text) }
}

/** A row with the text that its data has. One from before the store was sealed has its key as it is. */
const shownRow = (kind: string, row: ProjectionRow, text: string): ProjectionRow => {
  const end = isHidden(kind) && text !== row.data ? text.indexOf("\n") : -1
  return end === -1 ? { ...row, data: text } : { ...row, key: text.slice(0, end), data: text.slice(end + 1) }
}

const isSealed = ({ data }: EventLog.NewRecord): boolean => data.startsWith(EventLog.sealedStart)

const sealedAlready = "its events are sealed already; open the store that they are from with its keys"

/** How records, rows and titles are sealed and opened. */
export const forms = ({ keysNow, open, refusalInTheClear }: Sealer) => {
  /** Opens records, each of its session, in one step. */
  const openEach = (records: ReadonlyArray<readonly [session: string, record: EventLog.LogRecord]>) =>
    Effect.gen(function* () {
      const isClear = records.map(
        ([session, record]) => isInTheClear(record) && !EventLog.isReserved(session),
      )
      const clear = new Set(records.flatMap(([session], at) => (isClear[at] === true ? [session] : [])))
      const refused = new Map(
        yield* Effect.forEach(clear, (session) =>
          Effect.map(refusalInTheClear("read", session), (error) => [session, error] as const),
        ),
      )
      const texts = yield* open(
        "read",
        records.map(([session, { version, type, schemaVersion, data }]) => ({
          session,
          data,
          about: () => placeOfRecord(session, version, type, schemaVersion),
        })),
      )
      return texts.map((text, at) => {
        const [session, record] = records[at]!
        const error = isClear[at] === true ? (refused.get(session) ?? null) : null
        return error === null ? Either.map(text, (shown) => withText(record, shown)) : Either.left(error)
      })
    })
  const openRecords = (session: string, records: ReadonlyArray<EventLog.LogRecord>) =>
    Effect.flatMap(openEach(records.map((record) => [session, record])), Either.all)

  const sealDescription = (session: string, keys: SessionKeys, row: ProjectionRow): ProjectionRow => {
    const { owner, title } = describedBy(row.data)
    const titles = title === null ? [] : sealTexts(keys, [{ text: title, about: placeOfTitle(session) }])
    return { ...row, data: JSON.stringify({ owner, title: titles[0] ?? null }) }
  }

  const sealRows = (
    session: string,
    kind: string,
    keys: SessionKeys,
    rows: ReadonlyArray<ProjectionRow>,
  ): ReadonlyArray<ProjectionRow> => {
    if (kind === "description") return rows.map((row) => sealDescription(session, keys, row))
    const texts = rows.map(({ key, data }) =>
      isHidden(kind) ? { key: hiddenKey(keys, key), text: `${key}\n${data}` } : { key, text: data },
    )
    const sealed = sealTexts(
      keys,
      texts.map(({ key, text }) => ({ text, about: placeOfRow(session, kind, key) })),
    )
    return rows.map((row, at) => ({ ...row, key: texts[at]!.key, data: sealed[at]! }))
  }

  const sealChanges = (session: string, keys: SessionKeys, changes: ReadonlyArray<ProjectionChange>) =>
    changes.map((change) => ({
      ...change,
      ...(change.drop === undefined || !isHidden(change.kind)
        ? {}
        : { drop: change.drop.map((key) => hiddenKey(keys, key)) }),
      kind: kindOf(change.kind),
      rows: sealRows(session, change.kind, keys, change.rows),
    }))

  /** Opens titles, each of its session; a session without one has none. */
  const openTitles = (titles: ReadonlyArray<readonly [session: string, title: string | null]>) =>
    open(
      "list",
      titles.map(([session, title]) => ({ session, data: title ?? "", about: () => placeOfTitle(session) })),
    )

  const openDescription = (session: string, row: ProjectionRow) => {
    const { owner, title } = describedBy(row.data)
    return Effect.flatMap(openTitles([[session, title]]), ([shown]) =>
      Effect.map(shown!, (text) => ({
        ...row,
        data: JSON.stringify({ owner, title: title === null ? null : text }),
      })),
    )
  }

  const openRows = (session: string, kind: string, rows: ReadonlyArray<ProjectionRow>) =>
    kind === "description"
      ? Effect.forEach(rows, (row) => openDescription(session, row))
      : Effect.flatMap(
          open(
            "projections",
            rows.map(({ key, data }) => ({ session, data, about: () => placeOfRow(session, kind, key) })),
          ),
          (texts) =>
            Either.all(texts.map((text, at) => Either.map(text, (data) => shownRow(kind, rows[at]!, data)))),
        )

  const sealBatch = (
    operation: Operation,
    session: string,
    records: ReadonlyArray<EventLog.NewRecord>,
    options: EventLog.AppendOptions,
  ) =>
    Effect.map(
      records.some(isSealed)
        ? failure(operation, session, sealedAlready, "unreadable")
        : keysNow(
            operation,
            session,
            options.expectedVersion === 0,
            options.projections,
            EventLog.ownersNamed(records),
          ),
      (keys) => {
        const sealed = sealTexts(
          keys,
          records.map((record, at) => boundRecord(session, options.expectedVersion + 1 + at, record)),
        )
        return {
          keys,
          records: records.map(({ checksum: _checksum, ...rest }, at) => ({
            ...rest,
            data: sealed[at]!,
          })) as [EventLog.NewRecord, ...Array<EventLog.NewRecord>],
          options:
            options.projections === undefined
              ? options
              : { ...options, projections: sealChanges(session, keys, options.projections) },
        }
      },
    )

  /** New data of a stored record, as the store gets it. */
  const sealRewritten = (
    session: string,
    keys: SessionKeys,
    rewritten: EventLog.RewrittenRecord,
    type: string,
  ): EventLog.RewrittenRecord => {
    const { version, schemaVersion } = rewritten
    const [data = ""] = sealTexts(keys, [boundRecord(session, version, { ...rewritten, type })])
    return { version, schemaVersion, data }
  }
  return { openEach, openRecords, openRows, openTitles, sealBatch, sealChanges, sealRewritten }
}
