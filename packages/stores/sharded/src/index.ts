/**
 * `@memfold/sharded`: one store over several. A session is on one shard, which is chosen when it begins and stored; it can be moved to another
 * one while it is written to.
 */
export type { Moved } from "./move.js"
export type { Placing } from "./Places.js"
export { rendezvous, type Shard } from "./Shard.js"
export * from "./sharded.js"
export * from "./ShardedLog.js"
