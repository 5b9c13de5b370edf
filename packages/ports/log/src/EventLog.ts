/** The port of stores, as users of the package see it: what a store implements, and what can be read over any store. */
export * from "./port.js"
export {
  consume,
  type ConsumeOptions,
  deleteGivenUp,
  deleteGroup,
  type Done,
  type GivenUp,
  givenUp,
  groupLog,
  groupRows,
  keepTurn,
  type Kept,
  type Listed,
  reasonOf,
  redeliver,
  type Redelivered,
  takeTurn,
  type Turn,
  TurnLost,
} from "./consume.js"
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
