/** The check of a session in a store. */
export { session } from "./verify/Verify.js"
export { unindexed } from "./verify/unindexed.js"
export type { Rule } from "./verify/eventProblems.js"
export type { Finding, VerifyOptions } from "./verify/Verify.js"
