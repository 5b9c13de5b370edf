/** What the operations of a memory take, from what a request says. */
import { codecs, type Formats, strategyNamed, type UnknownName } from "@memfold/catalog"
import { problem, type schemas } from "@memfold/client/api"
import { EventLog, type Message, type Strategy } from "@memfold/core"
import { breathe, inSteps } from "@memfold/log/breathe"
import { Effect, Either, Struct } from "effect"

/** The name of a format, `openai` by default. */
export const formatOf = ({ format = "openai" }: { readonly format?: keyof Formats | undefined }) => format

/** Messages of a format, as the memory has them. */
export const decoded = (
  query: { readonly format?: keyof Formats | undefined },
  given: unknown,
): Effect.Effect<ReadonlyArray<Message.Message>, Error> =>
  // A long list took its time to be parsed, and takes its time again: others have their turn before and after.
  Effect.zipLeft(
    Effect.zipRight(
      breathe,
      Effect.flatten(inSteps(() => codecs[formatOf(query)].decode(Array.isArray(given) ? given : [given]))),
    ),
    breathe,
  )

/** Messages as they came, in a format. */
export const encoded = (
  query: { readonly format?: keyof Formats | undefined },
  messages: ReadonlyArray<Message.Message>,
) => codecs[formatOf(query)].encodeExact(messages) as schemas.Json | ReadonlyArray<schemas.Json>

/** What one request can say about its strategy. */
export interface StrategyRequest {
  readonly strategy?: string | undefined
  readonly settings?: schemas.Json | undefined
  readonly fullContextTurns?: number | undefined
  readonly cachedContextTurns?: number | undefined
}

/** The strategy that the service is set to. */
export interface StrategySetting {
  readonly name: string
  readonly file?: unknown
  readonly environmentPrefix?: string | undefined
}

/** The option `strategy` for a request: none if the request says nothing about it, and the settings are as they were at the start. */
export const strategyOf =
  (current: () => StrategySetting & { readonly isChanged: boolean }) =>
  (
    request: StrategyRequest,
  ): Either.Either<{ readonly strategy?: Strategy.Strategy }, UnknownName | Strategy.SettingsError> => {
    const { name, file, environmentPrefix, isChanged } = current()
    const { strategy, settings } = request
    const all = { ...settings, ...given(Struct.pick(request, "fullContextTurns", "cachedContextTurns")) }
    if (strategy === undefined && Object.keys(all).length === 0 && !isChanged) return Either.right({})
    return Either.map(
      strategyNamed(strategy ?? name, { request: all, file, environmentPrefix }),
      (strategy) => ({ strategy }),
    )
  }

/** The entity tag of a version. */
export const tagOf = (version: number): string => `"${version}"`

/** The version that a header names; `undefined` without the header. */
export const versionIn = (header: string | undefined) =>
  Effect.suspend(() => {
    if (header === undefined) return Effect.succeed(undefined)
    const [, digits] = /^(?:W\/)?"(\d{1,15})"$/.exec(header.trim()) ?? []
    return digits === undefined
      ? Effect.fail(
          problem(400, "WrongHeader", 'If-Match takes the ETag of one response, such as "7", and no list'),
        )
      : Effect.succeed(Number(digits))
  })

/** Refuses what no store can have as a name. */
export const named = (what: string, name: string) =>
  EventLog.isName(name)
    ? Effect.void
    : Effect.fail(
        problem(
          400,
          "InvalidInput",
          `The name of ${what} is a text of whole characters that is not empty, without U+0000`,
        ),
      )

/** The options that are given: an option that is missing in a request is missing for the memory, too. */
export const given = <Options extends object>(
  options: Options,
): { [Key in keyof Options]: Exclude<Options[Key], undefined> } =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never
