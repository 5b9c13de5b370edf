/** The thread that runs the model: a batch takes its processor for tens of milliseconds, and others have their turn meanwhile. */
import { basename, dirname } from "node:path"
import { parentPort, workerData } from "node:worker_threads"
import type { Answer, Asked, Loading } from "./messages.js"

/** What of the library is used. Its declarations are not imported: they need the library to be installed. */
interface Transformers {
  readonly env: {
    allowRemoteModels: boolean
    allowLocalModels: boolean
    localModelPath: string
    cacheDir: string
  }
  readonly pipeline: (
    task: "feature-extraction",
    model: string,
    options: { readonly dtype: string },
  ) => Promise<
    (
      texts: ReadonlyArray<string>,
      options: { readonly pooling: string; readonly normalize: boolean },
    ) => Promise<{ readonly data: Float32Array; readonly dims: ReadonlyArray<number> }>
  >
}

const { model, isFolder, dtype, pooling, cacheFolder } = workerData as Loading

const load = async () => {
  // A name in a variable is not followed by bundlers and compilers: the library is installed by who uses it.
  const library = "@huggingface/transformers"
  const { env, pipeline } = (await import(library)) as Transformers
  env.allowRemoteModels = !isFolder
  env.allowLocalModels = isFolder
  if (isFolder) env.localModelPath = dirname(model)
  if (cacheFolder !== undefined) env.cacheDir = cacheFolder
  const run = await pipeline("feature-extraction", isFolder ? basename(model) : model, { dtype })
  return async (texts: ReadonlyArray<string>) => {
    const { data, dims } = await run(texts, { pooling, normalize: true })
    return { numbers: Float32Array.from(data), dimensions: dims.at(-1) ?? 0 }
  }
}

const port = parentPort!
const answer = (one: Answer): void => port.postMessage(one)
const detailOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

try {
  const embed = await load()
  answer({ type: "ready", dimensions: (await embed(["memory"])).dimensions })
  port.on("message", ({ id, texts }: Asked) => {
    embed(texts).then(
      ({ numbers }) => answer({ type: "vectors", id, numbers }),
      // What a model says of a failure may quote its input.
      () => answer({ type: "failed", id }),
    )
  })
} catch (error) {
  answer({ type: "unusable", detail: detailOf(error) })
}
