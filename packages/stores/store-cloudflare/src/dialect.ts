/** The dialects of D1 and of Durable Objects: SQLite's, with errors that have their codes in words. */
import { type Dialect, sqlite } from "@memfold/store-sql"

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** What a guard of D1 says when something has changed since it was read; see `d1.ts`. */
const stale = "malformed JSON"

const dialect: Dialect = {
  ...sqlite,
  isBusy: (cause) => /SQLITE_(BUSY|LOCKED)/.test(messageOf(cause)),
  isDuplicate: (cause) => messageOf(cause).includes("UNIQUE constraint failed"),
  isTooLong: (cause) => /too big|SQLITE_TOOBIG/.test(messageOf(cause)),
}

/** The dialect of a Durable Object. */
export const objectDialect: Dialect = dialect

/** An expression that fails if a condition does not hold. */
export const guard = (condition: string): string =>
  `SELECT CASE WHEN ${condition} THEN 1 ELSE json('changed since it was read') END`

/** The dialect of D1: a transaction is sent as a whole, so no statement in it has an answer. */
export const d1Dialect: Dialect = {
  ...dialect,
  // By chance: all who start a session now would read the number after the last one, and only one of them would get it.
  start: { by: "number", next: "SELECT abs(random() % 0x7ffffffe) + 1 AS id" },
  isBusy: (cause) =>
    dialect.isBusy(cause) ||
    messageOf(cause).includes(stale) ||
    messageOf(cause).includes("UNIQUE constraint failed: sessions.id"),
}

/** The reason of an error of Cloudflare in words: what happened and what to do. */
export const reasonOf =
  (name: string) =>
  (cause: unknown): string => {
    const message = messageOf(cause)
    if (dialect.isDuplicate(cause))
      return `${name} would have two rows with one mark after the change; nothing was written`
    if (message.includes(stale)) return `${name} was written to by others all the time; try again`
    if (dialect.isTooLong(cause))
      return `${name} takes no value above 2 MB; append smaller messages, or fewer at a time`
    if (/SQLITE_FULL|storage limit|Exceeded maximum DB size/i.test(message))
      return `${name} is full; delete sessions, or use a database of its own for some`
    if (/overloaded|Network connection lost|reset because|internal error/i.test(message))
      return `${name} did not answer; try again`
    return `${name} failed: ${message}`
  }
