/** Archives by name: a folder, or `s3://BUCKET/PREFIX?endpoint=URL&region=NAME`. */
import { Effect } from "effect"
import { type Archive, ArchiveError } from "./Archive.js"
import { folderArchive } from "./folder.js"
import { s3Archive } from "./s3.js"

/**
 * Opens the archive of a name.
 *
 * @param place - a folder, or `s3://BUCKET/PREFIX` with `?endpoint=` for a server that is not of AWS and `?region=`
 *
 * @example
 * ```ts
 * import { openArchive } from "@memfold/archive"
 * import { Effect } from "effect"
 *
 * const { name } = await Effect.runPromise(openArchive("./cold"))
 * console.log(name)
 * ```
 */
export const openArchive = (place: string): Effect.Effect<Archive, ArchiveError> => {
  const refuse = (reason: string) => new ArchiveError({ operation: "open", about: null, reason })
  if (!/^[a-z0-9]+:\/\//u.test(place))
    return place.trim() === ""
      ? refuse("an archive is a folder, or s3://BUCKET/PREFIX")
      : Effect.succeed(folderArchive(place))
  if (!place.startsWith("s3://")) return refuse("an archive is a folder, or s3://BUCKET/PREFIX")
  const { hostname: bucket, pathname, searchParams } = new URL(place)
  const unknown = [...searchParams.keys()].find((name) => name !== "endpoint" && name !== "region")
  if (bucket === "" || unknown !== undefined)
    return refuse(
      "a bucket is s3://BUCKET/PREFIX, with ?endpoint=URL and &region=NAME where it is not on AWS",
    )
  const [endpoint, region] = [searchParams.get("endpoint"), searchParams.get("region")]
  return Effect.tryPromise({
    try: () =>
      s3Archive({
        bucket,
        prefix: pathname.replace(/^\/+|\/+$/gu, ""),
        ...(endpoint === null ? {} : { endpoint }),
        ...(region === null ? {} : { region }),
      }),
    catch: (error) =>
      error instanceof ArchiveError ? error : refuse("the address of the bucket is not valid"),
  })
}
