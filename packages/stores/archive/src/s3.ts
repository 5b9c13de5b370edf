/** An archive in a bucket of S3, or of a server that speaks its protocol. */
import type * as Sdk from "@aws-sdk/client-s3"
import { OptionGroup } from "@memfold/core"
import { Duration, Effect } from "effect"
import { type Archive, ArchiveError } from "./Archive.js"

/** Where the bucket is. Credentials and regions are found as by any program of AWS: environment, profile, role of the machine. */
export interface S3Options {
  readonly bucket: string
  /** What all keys begin with, without a `/` at the end; nothing by default. */
  readonly prefix?: string
  /** The region; as the environment says by default. */
  readonly region?: string
  /** The URL of a server that is not of AWS, such as MinIO or R2. */
  readonly endpoint?: string
  /** How long the bucket may say nothing in the middle of a request, before that is tried again or fails; 5 seconds by default. */
  readonly timeout?: Duration.DurationInput
  /** Further settings of the client, as `S3ClientConfig` of the SDK has them. The type is not named: the SDK need not be installed. */
  readonly client?: object
}

const { checkedBy, duration, option } = OptionGroup

const isText = (given: unknown): given is string => typeof given === "string" && given.trim() !== ""

/** The options that are checked, and what each must be. */
const checked = {
  bucket: option(checkedBy<string>(isText), 'the name of a bucket, such as "chats"'),
  prefix: option(
    checkedBy<string>((given) => typeof given === "string" && !/^\/|\/$/u.test(given)),
    "a text that does not begin or end with a /",
  ),
  region: option(checkedBy<string>(isText), "the name of a region, such as eu-central-1"),
  endpoint: option(
    checkedBy<string>((given) => isText(given) && /^https?:\/\//u.test(given) && URL.canParse(given)),
    "the URL of a server, such as https://minio.example.com",
  ),
  timeout: duration(),
}

/** Why a request failed. A message of the SDK may quote a key that is a secret. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "the bucket gave no answer"
  const { name, message, code, $metadata } = error as Error & {
    readonly code?: unknown
    readonly $metadata?: { readonly httpStatusCode?: number }
  }
  if ($metadata?.httpStatusCode !== undefined) return `the bucket answered ${name}`
  if (name === "CredentialsProviderError")
    return "the SDK of AWS finds no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
  if (message.startsWith("Region "))
    return "the bucket needs the name of its region: `region`, ?region=NAME in a URL, or AWS_REGION"
  return `the bucket cannot be reached (${typeof code === "string" ? code : name})`
}

/** Imports a package that only some install: a bundler cannot see its name, and so does not look for it. */
const optional = <Package>(name: string): Promise<Package> =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ name)

/**
 * An archive in a bucket. It needs the package `@aws-sdk/client-s3`.
 *
 * @example
 * ```ts
 * import { s3Archive } from "@memfold/archive"
 *
 * const archive = await s3Archive({ bucket: "chats", prefix: "cold", region: "eu-central-1" })
 * console.log(archive.name)
 * ```
 *
 * @throws ArchiveError: no bucket is named, another option is wrong, or the package is not installed
 */
export const s3Archive = async (options: S3Options): Promise<Archive> => {
  // A bucket that is left out is wrong as well.
  const wrong = OptionGroup.wrongIn(checked, { ...options, bucket: options?.bucket ?? null })
  if (wrong !== null) {
    const reason = `\`${wrong.option}\` must be ${wrong.allowed}`
    throw new ArchiveError({ operation: "open", about: null, reason })
  }
  const { bucket, prefix, region, endpoint, timeout = "5 seconds", client } = options
  const sdk = await optional<typeof Sdk>("@aws-sdk/client-s3").catch(() => {
    const reason = "a bucket needs a package of its own; install it: npm install @aws-sdk/client-s3"
    throw new ArchiveError({ operation: "open", about: null, reason })
  })
  const silence = Duration.toMillis(timeout)
  const s3 = new sdk.S3Client({
    // Without them, a bucket that says nothing is waited for without end, and so are the readers of a session.
    requestHandler: { connectionTimeout: silence, socketTimeout: silence },
    ...(region === undefined ? {} : { region }),
    // Servers that are not of AWS have buckets in the path, and may not know checksums at the end of a body.
    ...(endpoint === undefined
      ? {}
      : { endpoint, forcePathStyle: true, requestChecksumCalculation: "WHEN_REQUIRED" as const }),
    ...client,
  })
  const start = prefix === undefined || prefix === "" ? "" : `${prefix}/`
  const place = (key: string) => ({ Bucket: bucket, Key: `${start}${key}` })
  const attempt = <A>(
    operation: ArchiveError["operation"],
    about: string | null,
    run: (signal: AbortSignal) => Promise<A>,
  ) =>
    Effect.tryPromise({
      try: run,
      catch: (error) => new ArchiveError({ operation, about, reason: reasonOf(error) }),
    })
  return {
    name: `s3://${bucket}/${start}`.slice(0, -1),
    put: (key, bytes) =>
      attempt("put", key, async (abortSignal) => {
        await s3.send(new sdk.PutObjectCommand({ ...place(key), Body: bytes }), { abortSignal })
      }),
    get: (key) =>
      attempt("get", key, async (abortSignal) => {
        try {
          const { Body } = await s3.send(new sdk.GetObjectCommand(place(key)), { abortSignal })
          return (await Body?.transformToByteArray()) ?? null
        } catch (error) {
          if (error instanceof sdk.NoSuchKey) return null
          throw error
        }
      }),
    remove: (key) =>
      attempt("remove", key, async (abortSignal) => {
        await s3.send(new sdk.DeleteObjectCommand(place(key)), { abortSignal })
      }),
    list: attempt("list", null, async (abortSignal) => {
      const keys: Array<string> = []
      for (let next: string | undefined, more = true; more; more = next !== undefined) {
        const page = await s3.send(
          new sdk.ListObjectsV2Command({
            Bucket: bucket,
            Prefix: start,
            ...(next === undefined ? {} : { ContinuationToken: next }),
          }),
          { abortSignal },
        )
        for (const { Key } of page.Contents ?? []) if (Key !== undefined) keys.push(Key.slice(start.length))
        next = page.NextContinuationToken
      }
      return keys
    }),
  }
}
