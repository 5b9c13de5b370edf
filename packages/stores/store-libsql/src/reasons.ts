/** The errors of libSQL and its client in words: the problem and what to do. */

const reasons: ReadonlyArray<readonly [problem: RegExp, reason: string]> = [
  [/SQLITE_BUSY|SQLITE_LOCKED/, "is locked by another writer; try again when that one is done"],
  [/SQLITE_READONLY|BLOCKED/, "takes no writes; check the token and the plan of the database"],
  [/SQLITE_FULL/, "is full; make room and try again"],
  [/SQLITE_CORRUPT/, "is damaged; restore it from a backup"],
  [/UNIQUE/, "would have two rows with one mark after the change; nothing was written"],
  [/\b401\b|\b403\b|Unauthorized/i, "refuses the token; give the `authToken` of this database"],
  [/\b404\b/, "has no such database; check the URL"],
  [
    /ECONNREFUSED|ENOTFOUND|fetch failed|HRANA_WEBSOCKET_ERROR/,
    "does not answer; check the URL and that the server runs",
  ],
  [/URL_SCHEME_NOT_SUPPORTED|URL_INVALID/, "is no URL of libSQL; give libsql://HOST or http://HOST:PORT"],
]

/** The URL of a database for errors, without a token. */
export const nameOf = (url: string): string =>
  url.replace(/^([a-z]+:\/\/)[^/@]*@/, "$1").replace(/[?#].*$/s, "")

/** The reason of what the client threw at work on a database. */
export const reasonOf =
  (url: string) =>
  (cause: unknown): string => {
    const {
      code,
      message,
      cause: inner,
    } = (typeof cause === "object" && cause !== null ? cause : {}) as Readonly<
      Record<"code" | "message" | "cause", unknown>
    >
    const words = [
      code,
      message,
      inner instanceof Error ? `${inner.name} ${inner.message} ${String(inner.cause)}` : "",
    ]
      .map(String)
      .join(" ")
    const known = reasons.find(([problem]) => problem.test(words))
    // A text of the server may quote a statement; its code does not.
    return `${nameOf(url)} ${known?.[1] ?? `failed (${String(code ?? "no code")})`}`
  }
