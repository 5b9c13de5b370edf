/**
 * `@memfold/guard`: keeps secrets, numbers of cards and of accounts out of the log of a memory.
 *
 * @packageDocumentation
 */
export { type Find, guard, type GuardKind, guardKinds, type GuardOptions } from "./guard.js"
export type { Piece } from "./numbers.js"
export { recommendedRules, type SecretRule } from "./secrets.js"
