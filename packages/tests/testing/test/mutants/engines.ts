/**
 * Engines with a fault, each made by changing a line of this engine. The simulation has to find every one of them, by the
 * law that names its fault: a surviving mutant shows that a law is missing.
 */

/** One place of `packages/core/src` or `packages/ports/log/src`, and what stands there in the mutant. */
export interface Change {
  readonly file: string
  readonly from: string
  readonly to: string
}

/** One fault, and the law that it breaks. What is guarded twice takes two changes. */
export interface EngineMutant {
  readonly name: string
  readonly law: string
  /** It takes dozens of seeds to find, or hundreds: a deep run alone tries it. */
  readonly rare?: true
  readonly changes: ReadonlyArray<Change>
}

export const engineMutants: ReadonlyArray<EngineMutant> = [
  {
    name: "commits after its lease",
    law: "L7",
    rare: true,
    changes: [
      {
        file: "shell/runCompaction.ts",
        from: "if (hasLock(state, started)) return { events, answer: outcome }",
        to: "if (state.running !== undefined) return { events, answer: outcome }",
      },
    ],
  },
  {
    name: "compacts twice at once",
    law: "L7",
    changes: [
      {
        file: "policy/decide.ts",
        from: `if (state.running !== null && lockedUntil !== undefined && now < lockedUntil) return idle("running")`,
        to: "",
      },
    ],
  },
  {
    name: "forgets the pending check",
    law: "L11",
    changes: [
      {
        file: "shell/Runs.ts",
        from: "current.again = true",
        to: "current.again = false",
      },
      // Without this change, what came due would be found all the same: a run ends with a look at what has come.
      {
        file: "shell/CompactionSchedule.ts",
        from: "return yield* lookAgain(session, take)",
        to: 'return "done" as const',
      },
    ],
  },
  {
    name: "forgets the time",
    law: "L11",
    changes: [
      {
        file: "shell/Timers.ts",
        from: "timers.set(session, time, value)",
        to: "void time",
      },
    ],
  },
  {
    name: "forgets to try again",
    law: "L11",
    changes: [
      {
        file: "policy/decide.ts",
        from: "isBackingOff(state, now)) return failures.retryTime",
        to: "isBackingOff(state, now)) return null",
      },
    ],
  },
  {
    name: "leaves its lock behind",
    law: "liveness",
    rare: true,
    changes: [
      {
        file: "shell/runCompaction.ts",
        from: "Effect.tapErrorCause(() => Effect.ignoreLogged(giveBack(parts, lock))),",
        to: "Effect.tapErrorCause(() => Effect.void),",
      },
    ],
  },
  {
    name: "fails appends with its summarizer",
    law: "L8",
    changes: [
      {
        file: "shell/runCompaction.ts",
        from: ": recordFailure(parts, lock, error),",
        to: ": Effect.die(error),",
      },
    ],
  },
  {
    name: "tries again at once what failed",
    law: "L9",
    changes: [
      {
        file: "shell/runCompaction.ts",
        from: `if (outcome._tag === "Failed") return outcomes`,
        to: "",
      },
      {
        file: "policy/decide.ts",
        from: `if (isBackingOff(state, now) && !onDemand) return idle("backing-off")`,
        to: "",
      },
    ],
  },
  {
    name: "gives every try of an append another batch id",
    law: "L12",
    changes: [
      {
        file: "shell/Sessions.ts",
        from: "batchId: given ?? (yield* makeId),",
        to: "batchId: yield* makeId,",
      },
    ],
  },
  {
    name: "appends whatever the version",
    law: "L12",
    changes: [
      {
        file: "InMemoryEventLog.ts",
        from: "actualVersion !== expectedVersion ||",
        to: "expectedVersion < 0 &&",
      },
    ],
  },
  {
    name: "compacts the tail",
    law: "L2",
    changes: [
      {
        file: "policy/decide.ts",
        from: "Math.max(Math.min(clampToBoundary(state, asked), tailFrom), least)",
        to: "Math.max(clampToBoundary(state, asked + 2), least)",
      },
    ],
  },
  {
    name: "cuts groups",
    law: "L5",
    changes: [
      {
        file: "session/SessionState.ts",
        from: "boundaryBefore(state, Math.min(Math.max(asked, state.coveredTo), state.total)),",
        to: "Math.min(Math.max(asked, state.coveredTo), state.total),",
      },
    ],
  },
  {
    name: "keeps two summaries active",
    law: "L1",
    changes: [
      {
        file: "engine/compaction.ts",
        from: "...(previous === null\n        ? []",
        to: "...(previous !== undefined\n        ? []",
      },
    ],
  },
  {
    name: "folds a summary that reaches back",
    law: "L3",
    changes: [
      {
        file: "engine/compaction.ts",
        from: "    coveredTo,\n    carried,\n    segments,\n",
        to: "    coveredTo: before.coveredTo > 0 ? started.from : coveredTo,\n    carried,\n    segments,\n",
      },
    ],
  },
  {
    name: "drops the first message behind the summary",
    law: "L4",
    changes: [
      {
        file: "render/Render.ts",
        from: "const uncoveredEntries = state.uncovered.slice(shownFrom, openFrom)",
        to: "const uncoveredEntries = state.uncovered.slice(coveredTo > 0 ? shownFrom + 1 : shownFrom, openFrom)",
      },
    ],
  },
  {
    name: "shows pinned messages twice",
    law: "L4",
    changes: [
      {
        file: "render/Render.ts",
        from: "marked(sentOf(shown, uncoveredEntries), state)",
        to: "marked(pairResults([...state.pinned, ...shown]), state)",
      },
    ],
  },
  {
    name: "sends results without their calls",
    law: "L5",
    changes: [
      {
        file: "render/Render.ts",
        from: "marked(sentOf(shown, uncoveredEntries), state)",
        to: "marked(shown.map(({ message, index }) => ({ message, source: index })), state)",
      },
    ],
  },
  {
    name: "shows an open call before its results are there",
    law: "L4",
    changes: [
      {
        file: "render/window.ts",
        from: "const openFrom = waitsFrom(structure) ?? total",
        to: "const openFrom = structure.open === undefined ? 0 : total",
      },
    ],
  },
  {
    name: "takes a snapshot for another version",
    law: "L6",
    changes: [
      {
        file: "projection/Snapshot.ts",
        from: "    ...state,\n    uncovered: state.uncovered.toJSON(),",
        to: "    ...state,\n    version: Math.max(state.version - 1, 1),\n    uncovered: state.uncovered.toJSON(),",
      },
    ],
  },
  {
    name: "goes on with a session that was deleted",
    law: "L6",
    rare: true,
    changes: [
      {
        file: "shell/openSession.ts",
        from: "const isLast = batchId === null || record.batchId === batchId",
        to: "const isLast = batchId === null || record.batchId !== null",
      },
    ],
  },
  {
    name: "leaves redacted words in summaries",
    law: "L15",
    rare: true,
    changes: [
      {
        file: "history/redact.ts",
        from: "covers(index, segment) ? withoutContent(segment) : segment,",
        to: "segment,",
      },
    ],
  },
  {
    name: "leaves redacted words in snapshots",
    law: "L15",
    rare: true,
    changes: [
      {
        file: "InMemoryEventLog.ts",
        from: "rewritten === null ? before : new Map(",
        to: "rewritten !== undefined ? before : new Map(",
      },
    ],
  },
  {
    name: "changes the summary in place, for every context after it",
    law: "L13",
    changes: [
      {
        file: "render/Render.ts",
        from: "const { summary, coveredTo } = state\n  const [first, ...others] = sent",
        to: "const { summary, total: coveredTo } = state\n  const [first, ...others] = sent",
      },
    ],
  },
  {
    name: "renders the past with the summary of today",
    law: "L10",
    changes: [
      {
        file: "shell/PastStates.ts",
        from: "const wanted = Math.min(version, head.version)",
        to: "const wanted = Math.min(version + 1, head.version)",
      },
    ],
  },
  {
    name: "skips an event between catching up and live",
    law: "L10",
    rare: true,
    changes: [
      {
        file: "shell/subscribe.ts",
        from: "next = version + 1",
        to: "next = Math.max(next, version + (version % 7 === 0 ? 2 : 1))",
      },
    ],
  },
]
