/** Files of JSON that options name. */
import { Effect } from "effect"
import { readText } from "../input/Input.js"
import { withoutMark } from "../transcript/source.js"
import { UsageError } from "./failure.js"

/** A parsed file of JSON; `option` is the name of the option that names it, for errors. */
export const parsedFile = (option: string, path: string): Effect.Effect<unknown, UsageError> =>
  Effect.gen(function* () {
    const text = yield* Effect.mapError(
      readText(path),
      ({ problem }) => new UsageError({ problem: `${option} ${path}: ${problem}` }),
    )
    return yield* Effect.try({
      try: () => JSON.parse(withoutMark(text)) as unknown,
      catch: () => new UsageError({ problem: `${option} ${path}: the file is not JSON` }),
    })
  })
