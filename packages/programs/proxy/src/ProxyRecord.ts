/** What is told of a request. */
import type { Usage } from "./dialects.js"
import type { Followed } from "./place.js"
import type { Ending } from "./forward.js"

/** One request, for the log. It has no text of a conversation, no key and no query. */
export interface ProxyRecord {
  readonly path: string
  /** The session that was followed; `null` if the request passed as it came. */
  readonly session: string | null
  /** Why it passed as it came, in a word; `null` if it did not. */
  readonly doubt: string | null
  readonly how: Followed["how"] | null
  readonly ending: Ending
  /** The conversation in tokens: as it was, and as it went upstream. */
  readonly tokens: { readonly before: number; readonly after: number } | null
  /** What the upstream has charged, and how many dollars more it would have been; `null` without a report. */
  readonly charged: (Usage & { readonly saved: number }) | null
  readonly isStored: boolean
  /** Why an answer that came was not stored, in a word; `null` if it was, or if none came. */
  readonly notStored: string | null
}

/** A request without a session of the proxy. */
export const passedRecord = (path: string, ending: Ending, doubt: string | null = null): ProxyRecord => ({
  path,
  session: null,
  doubt,
  how: null,
  ending,
  tokens: null,
  charged: null,
  isStored: false,
  notStored: null,
})
