/**
 * Where facts are kept: in the session's own log, or in a log that the sessions of one user or one scope share.
 */

const prefix = "memfold:"

/**
 * The id of the log that holds what is known of a user. It is a session like any other to the store, and is listed
 * among them. Ids that begin with `memfold:` belong to memfold; an application's own sessions must not.
 *
 * @example
 * ```ts
 * import { userHome } from "@memfold/layers"
 *
 * console.log(userHome("ada"))
 * ```
 */
export const userHome = (user: string): string => `${prefix}user:${user}`

/** The id of the log that holds what is known of a scope; see {@link userHome}. */
export const scopeHome = (scope: string): string => `${prefix}scope:${scope}`

/**
 * Whether a session id is that of a shared log, for leaving these out of a list of conversations.
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
