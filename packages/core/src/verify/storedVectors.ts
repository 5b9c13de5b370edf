/** The vectors of a session, compared with the log that they are made from. */
import { Effect, Either, Stream } from "effect"
import { decode } from "../event/EventCodec.js"
import type { LogError, Service as EventLog } from "@memfold/log/EventLog"
import { records } from "@memfold/log/pages"
import { embeddedText } from "../recall/pieces.js"
import { isCleared as isInForce } from "../session/branches.js"
import type { SessionState } from "../session/SessionState.js"
import type { IndexedMessage, Service as VectorIndex, VectorIndexError } from "@memfold/log/VectorIndex"

/** What is wrong with the vectors of a message, or with the vectors of the whole session. */
export interface DifferingVectors {
  readonly version: number
  readonly problem: string
}

/**
 * What differs between the vectors of a session and its log, up to the event that the vectors reach; nothing if they were
 * changed meanwhile. Vectors from before a later clear are not looked at: the next search drops them.
 */
export const differingVectors = (
  log: EventLog,
  index: VectorIndex,
  { session, gaps }: Pick<SessionState, "session" | "gaps">,
): Effect.Effect<ReadonlyArray<DifferingVectors>, LogError | VectorIndexError> =>
  Effect.gen(function* () {
    const kept = yield* index.load(session)
    if (kept === null) return []
    const { place, entries } = kept
    const expected = new Map<number, Omit<IndexedMessage, "version">>()
    const erased = new Set<number>()
    let [isSame, isCleared] = [false, false]
    yield* Stream.runForEach(records(log, session), (record) =>
      Effect.sync(() => {
        const decoded = decode(record)
        if (Either.isLeft(decoded)) return
        const { event, version, id } = decoded.right
        if (version === place.version) isSame = id === place.event
        if (event._tag === "MessageRedacted") erased.add(event.version)
        else if (event._tag === "SessionCleared" && isInForce(gaps, version)) {
          isCleared = version > place.version
          expected.clear()
        } else if (event._tag === "MessageAppended" && version <= place.version) {
          const text = embeddedText(event.message)
          if (text !== null) expected.set(version, { index: event.index, digest: text.digest })
        }
      }),
    )
    const now = yield* index.place(session)
    if (now?.version !== place.version || now.event !== place.event) return []
    if (!isSame) return [{ version: place.version, problem: "the vectors belong to another log" }]
    const wrong = entries.flatMap(({ version, ...entry }): ReadonlyArray<DifferingVectors> => {
      if (erased.has(version)) return [{ version, problem: "there are vectors of a redacted message" }]
      if (isCleared) return []
      const known = expected.get(version)
      return known?.index === entry.index && known.digest === entry.digest
        ? []
        : [{ version, problem: "the vectors of the message were made from another text" }]
    })
    const having = new Set(entries.map(({ version }) => version))
    const missing = [...expected.keys()]
      .filter((version) => !isCleared && !erased.has(version) && !having.has(version))
      .map((version) => ({ version, problem: "the vectors of the message are missing" }))
    return [...wrong, ...missing]
  })
