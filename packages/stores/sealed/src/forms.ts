/** Records, rows and titles as the store gets them, and as they were. */
import type { EventLog } from "@memfold/log"
import type { ProjectionChange, ProjectionRow } from "@memfold/log/EventLog"
import { Effect } from "effect"
import type { Key } from "./Keyring.js"
import { hiddenKey, sealedIn, sealText, type SessionKeys } from "./seal.js"
import { describedBy, type Operation, type Sealer } from "./sealer.js"

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

/** A record with what its checksum is, as one text: the checksum of a text tells of the text. */
const withChecksum = ({ data, checksum }: { readonly data: string; readonly checksum?: number }): string =>
  `${checksum ?? ""}\n${data}`

const withoutChecksum = (text: string): { readonly data: string; readonly checksum?: number } => {
  const end = text.indexOf("\n")
  const checksum = text.slice(0, end)
  return { data: text.slice(end + 1), ...(checksum === "" ? {} : { checksum: Number(checksum) }) }
}

/** How records, rows and titles are sealed and opened. */
export const forms = ({ keysNow, open }: Sealer) => {
  const openRecord = (session: string, asked: Map<string, Key | null>) => (record: EventLog.LogRecord) => {
    const { version, type, schemaVersion, data, checksum: _checksum, ...rest } = record
    const about = placeOfRecord(session, version, type, schemaVersion)
    return sealedIn(data) === null
      ? Effect.succeed(record)
      : Effect.map(open("read", session, data, about, asked), (text) => ({
          ...rest,
          version,
          type,
          schemaVersion,
          ...withoutChecksum(text),
        }))
  }

  const sealRow =
    (session: string, kind: string, keys: SessionKeys) =>
    (row: ProjectionRow): ProjectionRow => {
      if (isHidden(kind)) {
        const key = hiddenKey(keys, row.key)
        const data = sealText(keys, `${row.key}\n${row.data}`, placeOfRow(session, kind, key))
        return { ...row, key, data }
      }
      if (kind !== "description")
        return { ...row, data: sealText(keys, row.data, placeOfRow(session, kind, row.key)) }
      const { owner, title } = describedBy(row.data)
      const hidden = title === null ? null : sealText(keys, title, placeOfTitle(session))
      return { ...row, data: JSON.stringify({ owner, title: hidden }) }
    }

  const sealChanges = (session: string, keys: SessionKeys, changes: ReadonlyArray<ProjectionChange>) =>
    changes.map((change) => ({
      ...change,
      ...(change.drop === undefined || !isHidden(change.kind)
        ? {}
        : { drop: change.drop.map((key) => hiddenKey(keys, key)) }),
      kind: kindOf(change.kind),
      rows: change.rows.map(sealRow(session, change.kind, keys)),
    }))

  const openTitle = (session: string, title: string | null, asked: Map<string, Key | null>) =>
    title === null ? Effect.succeed(null) : open("list", session, title, placeOfTitle(session), asked)

  const openRow = (session: string, kind: string, asked: Map<string, Key | null>) => (row: ProjectionRow) => {
    if (kind !== "description")
      return Effect.map(
        open("projections", session, row.data, placeOfRow(session, kind, row.key), asked),
        (data) => {
          // A row from before the store was sealed has its key, and its data, as they are.
          const end = isHidden(kind) && sealedIn(row.data) !== null ? data.indexOf("\n") : -1
          return end === -1
            ? { ...row, data }
            : { ...row, key: data.slice(0, end), data: data.slice(end + 1) }
        },
      )
    const { owner, title } = describedBy(row.data)
    return Effect.map(openTitle(session, title, asked), (shown) => ({
      ...row,
      data: JSON.stringify({ owner, title: shown }),
    }))
  }

  const sealBatch = (
    operation: Operation,
    session: string,
    records: ReadonlyArray<EventLog.NewRecord>,
    options: EventLog.AppendOptions,
  ) =>
    Effect.map(keysNow(operation, session, options.expectedVersion === 0, options.projections), (keys) => ({
      keys,
      records: records.map(({ checksum, data, ...rest }, at) => ({
        ...rest,
        data: sealText(
          keys,
          withChecksum({ data, ...(checksum === undefined ? {} : { checksum }) }),
          placeOfRecord(session, options.expectedVersion + 1 + at, rest.type, rest.schemaVersion),
        ),
      })) as [EventLog.NewRecord, ...Array<EventLog.NewRecord>],
      options:
        options.projections === undefined
          ? options
          : { ...options, projections: sealChanges(session, keys, options.projections) },
    }))

  /** New data of a stored record, as the store gets it. */
  const sealRewritten = (
    session: string,
    keys: SessionKeys,
    { version, schemaVersion, data, checksum }: EventLog.RewrittenRecord,
    type: string,
  ): EventLog.RewrittenRecord => ({
    version,
    schemaVersion,
    data: sealText(
      keys,
      withChecksum({ data, ...(checksum === undefined ? {} : { checksum }) }),
      placeOfRecord(session, version, type, schemaVersion),
    ),
  })
  return { openRecord, openRow, openTitle, sealBatch, sealChanges, sealRewritten }
}
