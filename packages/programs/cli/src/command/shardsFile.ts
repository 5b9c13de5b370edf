/** The file that names the shards of a store over stores. */
import { type ShardedOptions, sharded } from "@memfold/sharded"
import { Effect } from "effect"
import { UsageError } from "./failure.js"
import { parsedFile } from "./parsedFile.js"

/** The store over the shards that a file names, as a program gives them to `sharded`; `option` is the name of the option that names the file, for errors. */
export const shardsIn = (option: string, path: string) =>
  Effect.flatMap(parsedFile(option, path), (parsed) =>
    Effect.try({
      try: () => sharded(parsed as ShardedOptions),
      catch: (error) =>
        new UsageError({
          problem: `${option} ${path}: it is {"shards":{"NAME":"URL"}}, with "place": "session" or "owner" if you want. ${(error as Error).message}`,
        }),
    }),
  )
