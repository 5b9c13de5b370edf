/** Takes what a vector index has not yet into it, for searches: one at a time for a session, and longer than a search waits. */
import { Deferred, Effect, type Scope } from "effect"
import type { Service as Embedder } from "./Embedder.js"
import type { Embedding } from "./Embedding.js"
import type { Source } from "./FullTextIndex.js"
import { Pauses } from "./Pauses.js"
import { takeIn, type TakeInError } from "./takeIn.js"
import type { Service as VectorIndex } from "@memfold/log/VectorIndex"

/** The sessions that are being taken into a vector index. */
export class Intake {
  private readonly underWay = new Map<string, Deferred.Deferred<void, TakeInError>>()
  /** The sessions whose index could not be written. */
  private readonly pauses = new Pauses()

  /** @param scope where the work ends */
  constructor(
    private readonly index: VectorIndex,
    private readonly embedder: Embedder,
    private readonly embedding: Embedding,
    private readonly scope: Scope.Scope,
  ) {}

  /** Whether nothing is taken in at the moment, because the embedder or the index of the session has failed. */
  isPaused(session: string): Effect.Effect<boolean> {
    return Effect.flatMap(this.embedding.isPaused, (isPaused) =>
      isPaused ? Effect.succeed(true) : this.pauses.isPaused(session),
    )
  }

  /** Takes in what the index has not. It goes on when nobody waits for it any more, until the scope ends. */
  takeIn(source: Source): Effect.Effect<void, TakeInError> {
    return Effect.flatMap(Deferred.make<void, TakeInError>(), (done) => {
      const { session } = source
      const other = this.underWay.get(session)
      // The other search may read an older version than this search needs.
      if (other !== undefined)
        return Effect.zipRight(
          Effect.exit(Deferred.await(other)),
          Effect.suspend(() => this.takeIn(source)),
        )
      this.underWay.set(session, done)
      const work = takeIn(this.index, source, {
        embedder: this.embedder,
        embed: (texts) => this.embedding.messages(session, texts),
      }).pipe(
        Effect.tapErrorTag("VectorIndexError", () => this.pauses.begin(session)),
        Effect.ensuring(Effect.sync(() => this.underWay.delete(session))),
      )
      return Effect.zipRight(
        Effect.uninterruptible(
          Effect.forkIn(Effect.interruptible(Effect.intoDeferred(work, done)), this.scope),
        ),
        Deferred.await(done),
      )
    })
  }
}
