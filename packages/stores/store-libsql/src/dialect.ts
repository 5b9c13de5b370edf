/** The dialect of libSQL: SQLite's, without its switch for foreign keys. */
import { type Dialect, sqlite } from "@memfold/store-sql"

const codesOf = (cause: unknown): ReadonlyArray<string> => {
  if (typeof cause !== "object" || cause === null) return []
  const { code, extendedCode, message } = cause as Readonly<
    Record<"code" | "extendedCode" | "message", unknown>
  >
  return [code, extendedCode, message].map(String)
}

/** The dialect of libSQL. */
export const dialect: Dialect = {
  ...sqlite,
  tables: [
    ...sqlite.tables,
    // A server has a connection for each request, and each begins with the switch off.
    `CREATE TRIGGER rows_of_deleted_session AFTER DELETE ON sessions BEGIN
       DELETE FROM projections WHERE session = OLD.id;
       DELETE FROM summaries WHERE session = OLD.id;
     END`,
  ],
  isBusy: (cause) => codesOf(cause).some((code) => /SQLITE_(BUSY|LOCKED)/.test(code)),
  isDuplicate: (cause) =>
    codesOf(cause).some((code) => /SQLITE_CONSTRAINT_UNIQUE|UNIQUE constraint failed/.test(code)),
}
