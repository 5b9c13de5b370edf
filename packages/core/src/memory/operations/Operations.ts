/** The operations that every face of a memory has. */
import type { BranchOperations } from "./BranchOperations.js"
import type { CompactionOperations } from "./CompactionOperations.js"
import type { ConversationOperations } from "./ConversationOperations.js"
import type { Face } from "./Face.js"
import type { FactOperations } from "./FactOperations.js"
import type { GovernanceOperations } from "./GovernanceOperations.js"
import type { LogOperations } from "./LogOperations.js"
import type { RebuildOperations } from "./RebuildOperations.js"
import type { SearchOperations } from "./SearchOperations.js"
import type { SessionOperations } from "./SessionOperations.js"

export type * from "./Face.js"
export type {
  BranchOperations,
  CompactionOperations,
  ConversationOperations,
  FactOperations,
  GovernanceOperations,
  LogOperations,
  RebuildOperations,
  SearchOperations,
  SessionOperations,
}

/**
 * The operations that every face of a memory has. Each is declared and described here alone: `Memory.Service` of `@memfold/core` has
 * them with Effect, and a memory of `createMemory` with Promises.
 *
 * Each operation fails with `InvalidInput` for an invalid argument, with `LogError` if the store fails, and with `DamagedEvent` if a
 * stored event cannot be read. The `@throws` of an operation list what it fails with besides, or say more.
 *
 * The examples have the memory of a program with Promises: `const memory = createMemory({ store: "sqlite:chats.db" })`. With Effect,
 * it is `yield*` in place of `await`, and a stream in place of a loop.
 */
export interface Operations<F extends Face>
  extends
    ConversationOperations<F>,
    BranchOperations<F>,
    FactOperations<F>,
    RebuildOperations<F>,
    SearchOperations<F>,
    CompactionOperations<F>,
    LogOperations<F>,
    SessionOperations<F>,
    GovernanceOperations<F> {}
