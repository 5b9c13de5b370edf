/** A thread with a model, and the texts that are asked for. */
import { Worker } from "node:worker_threads"
import { InvalidModel } from "./InvalidModel.js"
import type { Answer, Asked, Loading } from "./messages.js"

interface Waiting {
  readonly resolve: (vectors: ReadonlyArray<Float32Array>) => void
  readonly reject: (error: Error) => void
}

/** What to do about the errors of loading that users meet. */
const adviceFor = (detail: string): string => {
  if (/Cannot find (?:package|module) '@huggingface\/transformers'/.test(detail))
    return "the library that runs it is not installed; type: npm install @huggingface/transformers"
  if (/fetch failed|ENOTFOUND|ECONNREFUSED/.test(detail))
    return "it could not be downloaded; give the path of a folder that has it, or connect to the network"
  return detail.split("\n")[0] ?? ""
}

/** A thread that has loaded a model. */
export class ModelThread {
  private readonly waiting = new Map<number, Waiting>()
  private asked = 0
  private isOver = false

  private constructor(
    private readonly worker: Worker,
    readonly dimensions: number,
  ) {
    worker.on("message", (answer: Answer) => this.take(answer))
    worker.on("error", () => this.end())
    worker.on("exit", () => this.end())
    // A process does not go on for the sake of a model that nobody asks.
    worker.unref()
  }

  /** Starts a thread and loads the model; rejects with an {@link InvalidModel}. */
  static load(loading: Loading): Promise<ModelThread> {
    // Flags of the program, such as `--input-type`, are not for this module.
    const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: loading, execArgv: [] })
    return new Promise((resolve, reject) => {
      const refuse = (detail: string): void => {
        void worker.terminate()
        reject(new InvalidModel({ model: loading.model, detail: adviceFor(detail) }))
      }
      const failed = (error: Error): void => refuse(error.message)
      worker.once("error", failed)
      worker.once("message", (answer: Answer) => {
        if (answer.type !== "ready") return refuse(answer.type === "unusable" ? answer.detail : answer.type)
        worker.off("error", failed)
        resolve(new ModelThread(worker, answer.dimensions))
      })
    })
  }

  /** The vectors of some texts, one for each. */
  embed(texts: ReadonlyArray<string>): Promise<ReadonlyArray<Float32Array>> {
    return new Promise((resolve, reject) => {
      if (this.isOver) return reject(new Error("the thread of the model has ended"))
      const id = this.asked++
      this.waiting.set(id, { resolve, reject })
      this.worker.ref()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread of Node has no origin
      this.worker.postMessage({ id, texts } satisfies Asked)
    })
  }

  /** Ends the thread. Texts that are asked for fail. */
  async close(): Promise<void> {
    await this.worker.terminate()
  }

  private take(answer: Answer): void {
    if (answer.type !== "vectors" && answer.type !== "failed") return
    const waiting = this.waiting.get(answer.id)
    this.waiting.delete(answer.id)
    if (this.waiting.size === 0) this.worker.unref()
    if (answer.type === "failed") return waiting?.reject(new Error("the model failed on these texts"))
    const { dimensions } = this
    waiting?.resolve(
      Array.from({ length: answer.numbers.length / dimensions }, (_, at) =>
        answer.numbers.slice(at * dimensions, (at + 1) * dimensions),
      ),
    )
  }

  private end(): void {
    this.isOver = true
    for (const { reject } of this.waiting.values()) reject(new Error("the thread of the model has ended"))
    this.waiting.clear()
  }
}
