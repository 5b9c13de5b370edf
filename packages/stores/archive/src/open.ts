/** Archives by name: a folder, or `s3://BUCKET/PREFIX?endpoint=URL&region=NAME`. */
import { Effect, Either, Option } from "effect"
import { type Archive, ArchiveError } from "./Archive.js"
import { folderArchive } from "./folder.js"
import { s3Archive, type S3Options } from "./s3.js"

const anArchive = "an archive is a folder, or s3://BUCKET/PREFIX"
const aBucket = "a bucket is s3://BUCKET/PREFIX, with ?endpoint=URL and &region=NAME where it is not on AWS"

/** The text of a part of a URL; `undefined` if its percent signs encode nothing. */
const decoded = Option.liftThrowable(decodeURIComponent)

/** The options of a bucket by its URL, or what is wrong with the URL. */
const bucketOf = (place: string): Either.Either<S3Options, string> => {
  if (!URL.canParse(place)) return Either.left(aBucket)
  const { protocol, username, password, hostname, port, pathname, searchParams, hash } = new URL(place)
  if (protocol !== "s3:") return Either.left(anArchive)
  if (username !== "" || password !== "")
    return Either.left(
      "the URL of a bucket has no credentials; the SDK of AWS finds them, such as in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    )
  const { endpoint, region, ...others } = Object.fromEntries(searchParams)
  const [bucket, prefix] = [decoded(hostname), decoded(pathname.replace(/^\/+|\/+$/gu, ""))]
  return Option.isNone(bucket) ||
    Option.isNone(prefix) ||
    bucket.value === "" ||
    port !== "" ||
    hash !== "" ||
    Object.keys(others).length > 0
    ? Either.left(aBucket)
    : Either.right({
        bucket: bucket.value,
        prefix: prefix.value,
        ...(endpoint === undefined ? {} : { endpoint }),
        ...(region === undefined ? {} : { region }),
      })
}

/**
 * Opens the archive of a name.
 *
 * @param place - a folder, or `s3://BUCKET/PREFIX` with `?endpoint=` for a server that is not of AWS and `?region=`
 *
 * @example
 * ```ts
 * import { openArchive } from "@memfold/archive"
 * import { Effect, Either, Option } from "effect"
 *
 * const { name } = await Effect.runPromise(openArchive("./cold"))
 * console.log(name)
 * ```
 */
export const openArchive = (place: string): Effect.Effect<Archive, ArchiveError> => {
  const refuse = (reason: string) => new ArchiveError({ operation: "open", about: null, reason })
  if (place.trim() === "") return refuse(anArchive)
  if (!/^[a-z][a-z0-9+.-]*:\/\//iu.test(place)) return Effect.succeed(folderArchive(place))
  return Effect.flatMap(Effect.mapError(bucketOf(place), refuse), (options) =>
    Effect.tryPromise({
      try: () => s3Archive(options),
      catch: (error) => (error instanceof ArchiveError ? error : refuse(aBucket)),
    }),
  )
}
