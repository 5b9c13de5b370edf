/**
 * The port of queues that carry the work of compactions to other processes: "look at this session, not before this time".
 *
 * A look says that something may be due; whoever looks decides that from the log. So a look may come twice, late, or for
 * nothing, and no law depends on it: the log's compare-and-swap and its lease keep two processes from compacting a session
 * at once (laws L7 and L12).
 */
import { Context, Duration, Effect, Schema, type Scope } from "effect"

/** A request to look at a session, and to compact it if that is due. */
export interface Look {
  readonly session: string
  /** Not before this time, in milliseconds since the epoch. A time that is past means now. */
  readonly time: number
  /** How full the context of the session is: 0 for an empty one, 1 at its limit, more beyond. Fuller ones come first. */
  readonly fill: number
}

/** A look that was given up, because it failed too often or can never succeed. */
export interface DeadLetter {
  readonly session: string
  /** When it was given up, in milliseconds since the epoch. */
  readonly time: number
  /** How often it was tried. */
  readonly attempts: number
  /** Why the last attempt failed; never any text of a conversation. */
  readonly reason: string
}

/** A queue failed. The reason never quotes a conversation or a password. */
export class DispatchError extends Schema.TaggedError<DispatchError>()("DispatchError", {
  operation: Schema.Literal("open", "dispatch", "work", "deadLetters", "revive"),
  /** The session that the operation is about; `null` if it is about the queue. */
  session: Schema.NullOr(Schema.String),
  reason: Schema.String,
}) {
  override get message(): string {
    const where = this.session === null ? "" : ` for session "${this.session}"`
    return `The queue failed at ${this.operation}${where}: ${this.reason}`
  }
}

/** The largest number that an option of a queue may be: as a time in milliseconds, no timer takes more. */
const most = 2 ** 31 - 1

/**
 * Checks the options of a queue, as a type checker would.
 *
 * @param given - the options, of any type
 * @param kinds - what each must be: a whole number of this or more, a text that passes a test, which is said in words, or anything. Others are
 *   typing mistakes
 *
 * @example
 * ```ts
 * import { Dispatcher } from "@memfold/log"
 * import { Effect } from "effect"
 *
 * export const checked = Dispatcher.checkOptions({ attempts: 0 }, { url: [/^redis:/, "redis://HOST"], attempts: 1 })
 * Effect.runPromise(Effect.flip(checked)).then(({ reason }) => console.log(reason))
 * ```
 */
export const checkOptions = (
  given: object,
  kinds: Readonly<Record<string, number | readonly [form: Pick<RegExp, "test">, words: string] | null>>,
): Effect.Effect<void, DispatchError> => {
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    const refused = (reason: string) => new DispatchError({ operation: "open", session: null, reason })
    if (kind === undefined)
      return refused(`there is no option \`${name}\`; there are ${Object.keys(kinds).join(", ")}`)
    if (value === undefined || kind === null) continue
    if (typeof kind === "number") {
      if (!Number.isInteger(value) || value < kind || value > most)
        return refused(`\`${name}\` must be a whole number from ${kind} to ${most}`)
    } else if (typeof value !== "string" || !kind[0].test(value))
      return refused(`\`${name}\` must be ${kind[1]}`)
  }
  return Effect.void
}

/** How long an operation waits for the server of a queue, in seconds. */
const longestAnswer = 10

/**
 * Makes a function that runs operations of a queue on a server: what throws, and what is not answered within 10 seconds, fails with
 * a `DispatchError`.
 *
 * @param server - the name of the server, for errors
 *
 * @example
 * ```ts
 * import { Dispatcher } from "@memfold/log"
 *
 * declare const put: (session: string) => Promise<void>
 *
 * const ask = Dispatcher.asking("Redis")
 * export const dispatched = ask("dispatch", "chat-1", () => put("chat-1"))
 * ```
 */
export const asking =
  (server: string) =>
  <A>(
    operation: DispatchError["operation"],
    session: string | null,
    run: () => Promise<A>,
  ): Effect.Effect<A, DispatchError> => {
    const failed = (reason: string) => new DispatchError({ operation, session, reason })
    return Effect.tryPromise({
      try: run,
      catch: (error) => failed(error instanceof Error ? error.message : "it threw no error"),
    }).pipe(
      Effect.timeoutFail({
        duration: Duration.seconds(longestAnswer),
        onTimeout: () => failed(`${server} gave no answer in ${longestAnswer} seconds`),
      }),
    )
  }

/** A look that failed. It is tried again, unless it is `final`; then it becomes a dead letter at once. */
export class LookFailed extends Schema.TaggedError<LookFailed>()("LookFailed", {
  session: Schema.String,
  reason: Schema.String,
  final: Schema.Boolean,
}) {
  override get message(): string {
    return `The look at session "${this.session}" failed: ${this.reason}`
  }
}

/** What a memory needs to hand its work to others. */
export interface Service {
  /**
   * Puts a look into the queue, and returns once it is there. A session has at most one look in the queue: the earlier time
   * and the fuller context are kept. A look that is being worked on does not count; what comes meanwhile is looked at afterwards.
   */
  readonly dispatch: (look: Look) => Effect.Effect<void, DispatchError>
}

/** Options of {@link Queue.work}. */
export interface WorkOptions {
  /** How many sessions are looked at at once, 1 or more. */
  readonly concurrency: number
  /** How long looks may take to end when the scope closes, in milliseconds; then they are interrupted, and tried again. */
  readonly shutdown: number
}

/** A queue with both of its ends. */
export interface Queue extends Service {
  /**
   * Takes looks that are due out of the queue, the fullest contexts first, until the scope closes. A look counts as done when
   * `handle` succeeds. It is handled at least once: a failed look is tried again after growing pauses, and so is a look whose process
   * was killed. After the last attempt it becomes a dead letter.
   *
   * @param handle - looks at a session; called for different sessions at once, and rarely for one session twice
   */
  readonly work: (
    handle: (look: Look) => Effect.Effect<void, LookFailed>,
    options: WorkOptions,
  ) => Effect.Effect<void, DispatchError, Scope.Scope>
  /** The looks that were given up, newest first, one for each session. */
  readonly deadLetters: Effect.Effect<ReadonlyArray<DeadLetter>, DispatchError>
  /** Removes the dead letters of a session, and puts a look into the queue; `false` if it had none. */
  readonly revive: (session: string) => Effect.Effect<boolean, DispatchError>
}

/**
 * The dead letters of a queue, and their way back.
 *
 * @param find - the letters that the queue has, newest first, with how full the contexts were; several of a session
 * @param remove - takes letters of a session out of it
 */
export const deadLettersOf = <Letter extends DeadLetter & Pick<Look, "fill">>(
  dispatch: Service["dispatch"],
  find: (
    operation: "deadLetters" | "revive",
    session: string | null,
  ) => Effect.Effect<ReadonlyArray<Letter>, DispatchError>,
  remove: (session: string, letters: ReadonlyArray<Letter>) => Effect.Effect<unknown, DispatchError>,
): Pick<Queue, "deadLetters" | "revive"> => ({
  deadLetters: Effect.map(find("deadLetters", null), (letters) => {
    const newest = new Map<string, DeadLetter>()
    for (const { session, time, attempts, reason } of letters)
      if (!newest.has(session)) newest.set(session, { session, time, attempts, reason })
    return [...newest.values()]
  }),
  revive: (session) =>
    Effect.gen(function* () {
      const letters = (yield* find("revive", session)).filter((one) => one.session === session)
      const [newest] = letters
      if (newest === undefined) return false
      yield* dispatch({ session, time: 0, fill: newest.fill })
      yield* remove(session, letters)
      return true
    }),
})

/**
 * Where a memory in the mode `dispatch` hands its work to. The default is `null`: no queue.
 *
 * @example
 * ```ts
 * import { Dispatcher } from "@memfold/log"
 * import { Effect, Layer } from "effect"
 *
 * export const printed = Layer.succeed(Dispatcher.Dispatcher, {
 *   dispatch: ({ session, time }) => Effect.log(`look at ${session} at ${new Date(time).toISOString()}`),
 * })
 * ```
 */
export class Dispatcher extends Context.Reference<Dispatcher>()("@memfold/core/Dispatcher", {
  defaultValue: (): Service | null => null,
}) {}
