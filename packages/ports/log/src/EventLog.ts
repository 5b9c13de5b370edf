/** The port of stores, as users of the package see it: what a store implements, and what can be read over any store. */
export * from "./port.js"
export {
  consume,
  type ConsumeOptions,
  deleteGroup,
  type Done,
  groupRows,
  keepTurn,
  type Kept,
  takeTurn,
  type Turn,
  TurnLost,
} from "./consume.js"
export {
  deleteGivenUp,
  type GivenUp,
  givenUp,
  type Listed,
  reasonOf,
  redeliver,
  type Redelivered,
} from "./givenUp.js"
export {
  feed,
  type FeedRange,
  logs,
  notArchived,
  ownersIn,
  records,
  sessions,
  storedLog,
  storedRecords,
  versionOf,
} from "./pages.js"
