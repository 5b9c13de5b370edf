/**
 * `@memfold/store-cloudflare`: the event log at Cloudflare, in a D1 database that many Workers share, or in the SQLite of a Durable
 * Object, which is the only writer of its sessions.
 */
export { type D1, type D1Options, type D1Statement, layerD1, makeD1 } from "./d1.js"
export {
  layerObject,
  makeObject,
  type ObjectCursor,
  type ObjectOptions,
  type ObjectStorage,
} from "./object.js"
