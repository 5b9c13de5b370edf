/** The check of a session in a store. */
export { session } from "./verify/Verify.js"
export type { Finding, Rule, VerifyOptions } from "./verify/Verify.js"
