/**
 * The settings of the service: those of its strategy, where they are stored, and what each can be. A change counts from the next request
 * on. With a settings file, it is stored there, beside what other programs have in the file.
 */
import { strategies, strategyNamed } from "@memfold/catalog"
import { problem, type Problem, type schemas } from "@memfold/client/api"
import { Effect, JSONSchema, Predicate } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { ServeError, type ServeOptions } from "./options.js"
import { replaceFile } from "./replaceFile.js"
import type { StrategySetting } from "./requests.js"

type Json = Readonly<Record<string, unknown>>

/** A JSON schema without references and names of its rules: what a form needs. */
const inlined = (schema: unknown, definitions: Json): unknown => {
  if (Array.isArray(schema)) return schema.map((one) => inlined(one, definitions))
  if (!Predicate.isReadonlyRecord(schema)) return schema
  const { $ref, allOf, title: _title, description: _description, ...rest } = schema
  const named = typeof $ref === "string" ? definitions[$ref.split("/").at(-1) ?? ""] : undefined
  const parts = [named, ...(Array.isArray(allOf) ? allOf : [])].map((one) => inlined(one, definitions))
  const own = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, inlined(value, definitions)]),
  )
  return Object.assign({}, ...parts.filter(Predicate.isReadonlyRecord), own)
}

/** The settings of a strategy as a JSON schema, with defaults and descriptions. */
const formOf = (name: string): typeof schemas.StrategyForm.Type => {
  const { defaults, settings, descriptions, section } = strategies.get(name)!
  const whole = JSONSchema.make(settings as never, { target: "jsonSchema7" }) as unknown as Json & {
    readonly properties: Readonly<Record<string, Json>>
  }
  const definitions = (whole["$defs"] ?? {}) as Json
  const properties = Object.fromEntries(
    Object.entries(whole.properties).map(([key, one]) => [
      key,
      {
        ...(inlined(one, definitions) as Json),
        description: descriptions[key],
        default: (defaults as Json)[key],
      },
    ]),
  )
  return {
    name,
    section,
    defaults: defaults as Json,
    schema: { type: "object", properties, additionalProperties: false },
  }
}

/** An object with a value at a path; what else is in it stays. */
const put = (file: Json, [name, ...rest]: ReadonlyArray<string>, value: Json): Json => {
  if (name === undefined) return value
  const inside = file[name]
  return { ...file, [name]: put(Predicate.isReadonlyRecord(inside) ? inside : {}, rest, value) }
}

/** What the settings file has; `undefined` if there is none. */
const fileAt = (path: string): Json | undefined => {
  if (!existsSync(path)) return undefined
  try {
    const file: unknown = JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""))
    if (Predicate.isReadonlyRecord(file)) return file
  } catch {
    // The error below says what to do; the one of the engine would quote the file.
  }
  throw new ServeError(`${path} is no settings file: it must have a JSON object`)
}

const at = (file: Json, path: ReadonlyArray<string>): Json => {
  const found = path.reduce<unknown>(
    (one, name) => (Predicate.isReadonlyRecord(one) ? one[name] : undefined),
    file,
  )
  return Predicate.isReadonlyRecord(found) ? found : {}
}

export interface ServiceSettings {
  /** The strategy of requests that name none, and whether it is another one than the memory was made with. */
  readonly current: () => StrategySetting & { readonly isChanged: boolean }
  readonly show: () => typeof schemas.Settings.Type
  /** Changes the settings. Nothing changes if one of them is not allowed, or cannot be stored. */
  readonly change: (change: typeof schemas.SettingsChange.Type) => Effect.Effect<void, Problem | Error>
}

/** Reads the settings file, if there is one. */
export const readSettingsFile = ({ settings, settingsFile }: ServeOptions): object | undefined =>
  settings !== undefined || settingsFile === undefined ? settings : fileAt(settingsFile)

const notStored = (why: string) =>
  problem(503, "SettingsNotStored", `The settings file ${why}; nothing has changed`)

export const serviceSettings = (
  started: StrategySetting,
  { settingsFile }: Pick<ServeOptions, "settingsFile">,
): ServiceSettings => {
  let current = { ...started, isChanged: false }
  const sectionOf = (name: string) => strategies.get(name)?.section ?? []
  const fileOf = ({ file }: StrategySetting): Json => (Predicate.isReadonlyRecord(file) ? file : {})
  return {
    current: () => current,
    show: () => {
      const { name } = current
      const section = sectionOf(name)
      const own = at(fileOf(current), section)
      const knows = strategies.get(name)?.knows ?? (() => false)
      return {
        strategy: name,
        settings: Object.fromEntries(Object.entries(own).filter(([key]) => knows(key))),
        stored: settingsFile !== undefined,
        section,
        strategies: [...strategies.keys()].map(formOf),
      }
    },
    change: ({ strategy = current.name, settings }) =>
      Effect.gen(function* () {
        const definition = strategies.get(strategy)
        const knows = definition?.knows ?? (() => false)
        const unknown = definition && Object.keys(settings).find((key) => !knows(key))
        if (unknown !== undefined)
          return yield* Effect.fail(
            problem(400, "SettingsError", `Strategy "${strategy}" has no setting "${unknown}"`),
          )
        // Other programs may have written to the file since it was read.
        const stored = yield* Effect.try({
          try: () => (settingsFile === undefined ? undefined : fileAt(settingsFile)),
          catch: () => notStored("has no JSON object, or cannot be read: correct it"),
        })
        const before = stored ?? fileOf(current)
        const section = sectionOf(strategy)
        const kept = Object.fromEntries(Object.entries(at(before, section)).filter(([key]) => !knows(key)))
        const file = put(before, section, { ...kept, ...settings })
        yield* strategyNamed(strategy, {
          request: undefined,
          file,
          environmentPrefix: current.environmentPrefix,
        })
        if (settingsFile !== undefined)
          yield* Effect.try({
            try: () => replaceFile(settingsFile, file),
            catch: () => notStored("cannot be written"),
          })
        current = { ...current, name: strategy, file, isChanged: true }
      }),
  }
}
