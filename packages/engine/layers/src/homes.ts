/** The ids of logs that the sessions of one user or one scope share. */

const prefix = "memfold:"

/**
 * The id of the log with the facts about a user. The store lists it like any other session. Session ids that begin
 * with `memfold:` are reserved for memfold.
 *
 * @example
 * ```ts
 * import { userHome } from "@memfold/layers"
 *
 * console.log(userHome("ada"))
 * ```
 */
export const userHome = (user: string): string => `${prefix}user:${user}`

/** The id of the log with the facts about a scope; see {@link userHome}. */
export const scopeHome = (scope: string): string => `${prefix}scope:${scope}`

/**
 * Whether a session id is the id of a shared log, to leave these out of a list of conversations.
 *
 * @example
 * ```ts
 * import { isHome, scopeHome } from "@memfold/layers"
 *
 * const sessions = ["chat-1", scopeHome("acme")].filter((session) => !isHome(session))
 * console.log(sessions)
 * ```
 */
export const isHome = (session: string): boolean =>
  session.startsWith(userHome("")) || session.startsWith(scopeHome(""))
