/** Engines with a fault where the conversation goes on from an earlier place. The laws of a memory have to find each of them. */
import type { Change, EngineMutant } from "./engines.js"

const mutant = (name: string, law: string, ...changes: ReadonlyArray<Change>): EngineMutant => ({
  name,
  law,
  changes,
})

/** A fault that only many of the inputs find. */
const rare = (...given: Parameters<typeof mutant>): EngineMutant => ({ ...mutant(...given), rare: true })

export const branchMutants: ReadonlyArray<EngineMutant> = [
  mutant("keeps a summary that covers messages beyond the place", "L3", {
    file: "session/switchBranch.ts",
    from: "coveredTo <= index && index < total && (coveredTo < index",
    to: "coveredTo >= 0 && index < total && (coveredTo !== index",
  }),
  rare("covers a call that is open again", "L3", {
    file: "session/switchBranch.ts",
    from: "(coveredTo < index || covered.structure.open === null)",
    to: "(coveredTo <= index || covered.structure.open === null)",
  }),
  mutant("goes back to the oldest state that has the messages", "L3", {
    file: "shell/earlierStates.ts",
    from: "(accepts(after) ? after : found)",
    to: "found ?? (accepts(after) ? after : null)",
  }),
  rare("cannot edit what was covered before a clear that was undone", "L3", {
    file: "shell/earlierStates.ts",
    from: "state.total > 0 && isOnBranch",
    to: "state.clears === now.clears && isOnBranch",
  }),
  rare("keeps a summary of the question that is asked again", "L3", {
    file: "session/switchBranch.ts",
    from: "coveredTo < index || index === 0",
    to: "coveredTo <= index",
  }),
  mutant("looks for the last message where others come behind it, too", "L3", {
    file: "memory/branching.ts",
    from: "isEnd ? shows : () => true",
    to: "shows",
  }),
  mutant("forgets what earlier edits have left", "L4: every message of the branch", {
    file: "session/branches.ts",
    from: "...gaps.filter(({ from }) => from <= version),",
    to: "",
  }),
  mutant("keeps the gaps of the branch that was left", "L4: every message of the branch", {
    file: "session/switchBranch.ts",
    from: "gapsBehind(before.gaps, place, recorded.version)",
    to: "gapsBehind(state.gaps, place, recorded.version)",
  }),
  mutant("shows pages of all branches", "L4: every message of the branch", {
    file: "memory/readMessages.ts",
    from: "rangesBetween(gaps, 1, version - 1)",
    to: "rangesBetween([], 1, version - 1)",
  }),
  mutant("takes back one event too many", "L4: every message of the branch", {
    file: "memory/branching.ts",
    from: "(now.gaps.at(-1)?.to ?? 1) - 1",
    to: "Math.max((now.gaps.at(-1)?.to ?? 1) - 2, 1)",
  }),
  mutant("goes on without the state that an event goes back to", "L6: every process", {
    file: "session/evolve.ts",
    from: "return event.version < state.version && !states.has(event.version)",
    to: "return event.version < 0 && !states.has(event.version)",
  }),
  rare("keeps earlier snapshots with summaries that are invalid", "L6: every process", {
    file: "shell/Sessions.ts",
    from: "{ kind: earlierSnapshots.kind, replace: true, rows: [] }",
    to: "{ kind: earlierSnapshots.kind, rows: [] }",
  }),
  rare("reverts a summary, and not what continues it on other branches", "L6: every process", {
    file: "history/revert.ts",
    from: "[...gone, ...continuations(gone, left)]",
    to: "[...gone, ...continuations([], left)]",
  }),
  mutant("does not cut its index", "L6: recall finds the branch in force", {
    file: "recall/SessionIndex.ts",
    from: "if (kept !== -1) this.cutTo(kept)",
    to: "",
  }),
  rare("takes stored parts of an index for any branch", "L6: recall finds the branch in force", {
    file: "recall/StoredParts.ts",
    from: "list.parts.filter(({ version }) => version < end)",
    to: "list.parts.filter(({ version }) => version <= Math.max(end, version))",
  }),
  mutant(
    "keeps the end of a stored index",
    "L6: recall finds the branch in force",
    {
      file: "recall/Tail.ts",
      from: "divergence(this.gaps, gaps) > this.version",
      to: "divergence(this.gaps, gaps) > 0",
    },
    // Without this change, a message that the branch does not have is not read from the log.
    {
      file: "recall/readLog.ts",
      from: "!isOnBranch(gaps, at) ? [] : recorded",
      to: "!isOnBranch([], at) ? [] : recorded",
    },
  ),
  rare("goes back to a summary that was reverted since", "L6: every process", {
    file: "shell/earlierStates.ts",
    from: "if (invalidatedAt > version) {",
    to: "if (invalidatedAt < 0) {",
  }),
  rare("keeps a running compaction of messages that are cut", "L12: two edits", {
    file: "session/switchBranch.ts",
    from: "running: state.running !== null && state.running.to <= index ? state.running : null,",
    to: "running: state.running,",
  }),
  mutant("throws every running compaction away", "L12: two edits", {
    file: "session/switchBranch.ts",
    from: "running: before === state ? cut.running : null,",
    to: "running: null,",
  }),
  rare("redacts on the branch in force alone", "L15: a redacted message is erased from every branch", {
    file: "history/redact.ts",
    from: "version >= asked.version && isOnBranch(gaps[at] ?? [], asked.version),",
    to: "version >= asked.version && at >= 0 && isOnBranch(gaps.at(-1) ?? [], version),",
  }),
  mutant(
    "counts messages to be redacted on all branches",
    "L15: a redacted message is erased from every branch",
    {
      file: "history/redact.ts",
      from: "isMessage(one) && isOnBranch(gaps[position] ?? [], one.version)",
      to: "isMessage(one) && isOnBranch([], one.version)",
    },
  ),
  rare(
    "loses branches after a clear that was undone",
    "L15: a redacted message is erased from every branch",
    {
      file: "session/switchBranch.ts",
      from: "before.clears === clears || [branch, ...branches].some(({ id }) => id === before.branch.id)",
      to: "before.clears === clears || branch === branches[-1]",
    },
  ),
]
