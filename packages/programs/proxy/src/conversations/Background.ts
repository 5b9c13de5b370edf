/**
 * Responses in the background: answered while no client waits. The register of the session says what was accepted and what failed; an
 * answer that came is a message, as every other one.
 */
import type { Fields } from "@memfold/codec"
import { Effect, Fiber, Schedule } from "effect"
import { ApiError, apiErrorOf } from "./ApiError.js"
import { eventsOf, failedEvent } from "./events.js"
import { sessionOf } from "./ids.js"
import { type BackgroundError, readRegister, record } from "./register.js"
import type { Store } from "./Store.js"

/** How often the process that answers says that it still does. */
const beat = "20 seconds"

/** How long it is believed, in milliseconds. */
const patience = 60_000

const lost: BackgroundError = {
  code: "server_error",
  message: "The process that answered this response has ended. Send the request again.",
}

/** A response will not be answered: somebody has cancelled it, or this process ends. */
class Abandoned extends Error {
  override readonly name = "Abandoned"
  constructor(readonly how: "cancelled" | "failed") {
    super(`the response was ${how === "cancelled" ? "cancelled" : "given up"}`)
  }
}

const failed = (response: Fields, error: BackgroundError): Fields => ({
  ...response,
  status: "failed",
  error,
})

/** A response that this process answers now. */
export class Job {
  private readonly told: Array<Fields> = []
  private readonly waiting = new Set<() => void>()
  private readonly abort = new AbortController()
  private isOver = false
  response: Fields
  /** Settled when it has ended, either way. */
  done: Promise<void> = Promise.resolve()

  constructor(response: Fields) {
    this.response = response
    // Whoever follows knows at once that it was accepted.
    this.add({ type: "response.created", response })
    this.add({ type: "response.queued", response })
  }

  /** Ends the request to the upstream. */
  get signal(): AbortSignal {
    return this.abort.signal
  }

  /** Cancels it, or gives it up because this process ends. */
  abandon(how: Abandoned["how"]): void {
    this.abort.abort(new Abandoned(how))
  }

  private wake(): void {
    for (const go of this.waiting) go()
    this.waiting.clear()
  }

  private add(event: Fields): void {
    this.told.push({ ...event, sequence_number: this.told.length })
  }

  tell(event: Fields): void {
    if (event["type"] !== "response.created") this.add(event)
    this.wake()
  }

  /** Ends it, with the events that have not been told. */
  end(response: Fields): void {
    const isStreamed = this.told.length > 2
    this.response = response
    if (response["status"] === "failed" || response["status"] === "cancelled") this.add(failedEvent(response))
    else if (!isStreamed) for (const event of eventsOf(response)) this.tell(event)
    this.isOver = true
    this.wake()
  }

  /** Its events behind a number, as they come. */
  async *events(after: number): AsyncGenerator<Fields, void, void> {
    for (let at = after + 1; ; at++) {
      while (at >= this.told.length && !this.isOver)
        await new Promise<void>((go) => void this.waiting.add(go))
      const event = this.told[at]
      if (event === undefined) return
      yield event
    }
  }
}

/** What is to be answered. */
export interface Accepted {
  readonly session: string
  /** The response before it is answered. */
  readonly response: Fields
  /** What tells its request from another one with the same key. */
  readonly asked: string
  /** Answers it, and returns it as it ended. */
  readonly work: (job: Job) => Promise<Fields>
}

/** The responses in the background over a store. */
export class Background {
  private readonly jobs = new Map<string, Job>()

  constructor(private readonly store: Store) {}

  /** Accepts a response: its client can ask for it from now on, in every process. */
  async start({ session, response, asked, work }: Accepted): Promise<Job> {
    const id = String(response["id"])
    await record(this.store, session, { is: "background", response, asked, time: await this.store.now() })
    const job = new Job(response)
    this.jobs.set(id, job)
    job.done = this.run(session, id, job, work)
    return job
  }

  private async run(session: string, id: string, job: Job, work: Accepted["work"]): Promise<void> {
    const { response } = job
    const beating = Effect.runFork(
      Effect.promise(() => this.look(session, id, job).catch(() => undefined)).pipe(
        Effect.schedule(Schedule.spaced(beat)),
      ),
    )
    const settle = async (): Promise<Fields> => {
      try {
        return await work(job)
      } catch (error) {
        const { reason } = job.signal as { readonly reason: unknown }
        if (reason instanceof Abandoned)
          return reason.how === "failed" ? failed(response, lost) : { ...response, status: "cancelled" }
        const { code, message } = apiErrorOf(error)
        return failed(response, { code: code ?? "server_error", message })
      }
    }
    job.response = { ...response, status: "in_progress" }
    const ended = await settle()
    const { status } = ended
    try {
      if (status === "failed" || status === "cancelled") {
        const error = (ended["error"] ?? null) as BackgroundError | null
        await record(this.store, session, { is: "background-ended", response: id, status, error })
      }
    } catch {
      // Whoever asks later is told that the process has ended.
    }
    job.end(ended)
    this.jobs.delete(id)
    await Effect.runPromise(Fiber.interrupt(beating))
  }

  /** Says that this process answers, and looks whether another one was told to cancel. */
  private async look(session: string, id: string, job: Job): Promise<void> {
    await this.check(session, id, job)
    await record(this.store, session, { is: "background-seen", response: id, time: await this.store.now() })
  }

  /**
   * Looks whether the answer is still wanted.
   *
   * @throws the reason of the job's signal, if it was cancelled or deleted, here or in another process
   */
  async check(session: string, id: string, job: Job): Promise<void> {
    const { background, deletedResponses } = await readRegister(this.store, session)
    const known = background.get(id)
    if (known === undefined || known.isCancelAsked || deletedResponses.has(id)) job.abandon("cancelled")
    job.signal.throwIfAborted()
  }

  job(id: string): Job | undefined {
    return this.jobs.get(id)
  }

  private async known(id: string) {
    const session = sessionOf(id)
    if (session === null) return null
    const { background, deletedResponses } = await readRegister(this.store, session)
    const known = background.get(id)
    return known === undefined || deletedResponses.has(id) ? null : { ...known, session }
  }

  /** What a response in the background was asked; `null` if there is none. */
  async asked(id: string): Promise<string | null> {
    return (await this.known(id))?.asked ?? null
  }

  /** A response that has no answer: as it stands, or how it has failed; `null` if there is none. */
  async standing(id: string): Promise<Fields | null> {
    const job = this.jobs.get(id)
    if (job !== undefined) return job.response
    const known = await this.known(id)
    if (known === null) return null
    const { response, ended, seen } = known
    if (ended !== null) return { ...response, ...ended }
    const isLost = (await this.store.now()) - seen > patience
    return isLost ? failed(response, lost) : { ...response, status: "in_progress" }
  }

  /**
   * Cancels a response that has no answer.
   *
   * @returns it as it stands then: under way, if another process answers it and has yet to see that it was cancelled; `null` if there is none
   */
  async cancel(id: string): Promise<Fields | null> {
    const job = this.jobs.get(id)
    if (job !== undefined) {
      job.abandon("cancelled")
      await job.done
      return job.response
    }
    const response = await this.standing(id)
    if (response !== null && response["status"] === "in_progress")
      await record(this.store, sessionOf(id)!, { is: "background-cancel", response: id })
    return response
  }

  /** Fails for a stream of a response that another process answers. */
  refuseStream(): never {
    throw new ApiError(
      409,
      "Another process answers this response. Ask for it without a stream until it has ended.",
      { code: "response_in_progress" },
    )
  }

  /** Gives up what this process answers: these responses have failed. */
  async stop(): Promise<void> {
    for (const job of this.jobs.values()) job.abandon("failed")
    await this.settled()
  }

  /** Waits until all have ended that this process answers. */
  async settled(): Promise<void> {
    await Promise.all([...this.jobs.values()].map(({ done }) => done))
  }
}
