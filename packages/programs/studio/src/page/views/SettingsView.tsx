/** The settings of the strategies, in forms made from their schemas, with what they would have done to this session. */
import type { schemas } from "@memfold/client"
import { useState } from "preact/hooks"
import { inWords } from "../format.js"
import { Choice } from "../parts/Choice.js"
import { Problem } from "../parts/Notices.js"
import { ask, reasonOf } from "../service/ask.js"
import { useRight } from "../service/rights.js"
import { useAnswer } from "../service/useAnswer.js"
import type { ViewProps } from "../session/ViewProps.js"
import { Preview } from "./Compact.js"

type Settings = typeof schemas.Settings.Type
type Form = Settings["strategies"][number]
type Values = Readonly<Record<string, unknown>>

/** What a JSON schema says of one setting. */
interface Property {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly enum?: ReadonlyArray<unknown>
}

const limitsOf = ({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Property): string =>
  [
    minimum === undefined ? "" : `at least ${minimum}`,
    exclusiveMinimum === undefined ? "" : `above ${exclusiveMinimum}`,
    maximum === undefined ? "" : `at most ${maximum}`,
    exclusiveMaximum === undefined ? "" : `below ${exclusiveMaximum}`,
  ]
    .filter(Boolean)
    .join(", ")

const isNumber = ({ type }: Property, value: unknown): boolean =>
  type === "number" || type === "integer" || typeof value === "number"

/** What was typed: JSON, or else the text itself. */
const read = (text: string): unknown => {
  try {
    return text === "" ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return text
  }
}

/** The field of one setting. What is neither a number, a choice nor yes or no is written as JSON. */
const Field = ({
  name,
  property,
  fallback,
  values,
  set,
}: {
  readonly name: string
  readonly property: Property
  readonly fallback: unknown
  readonly values: Values
  readonly set: (value: unknown) => void
}) => {
  const value = values[name]
  const shown = value ?? fallback
  // What a setting is for is its label; its name is for who writes it into a file.
  const [label = "", more = ""] = (property.description ?? inWords(name)).split(/[.;](?:\s+|$)(.*)/su)
  const about = [
    more,
    name,
    limitsOf(property),
    fallback == null ? "no default" : `default ${JSON.stringify(fallback)}`,
  ]
  const hint = `${name}-about`
  const isFlag = typeof shown === "boolean" || property.type === "boolean"
  const options = isFlag ? ["true", "false"] : property.enum?.map(String)
  const input = isNumber(property, shown) ? (
    <input
      aria-describedby={hint}
      type="number"
      step="any"
      min={property.minimum}
      max={property.maximum}
      value={String(shown ?? "")}
      onInput={({ currentTarget: { value } }) => set(value === "" ? undefined : Number(value))}
    />
  ) : (
    <input
      aria-describedby={hint}
      value={shown === undefined || shown === null ? "" : JSON.stringify(shown)}
      onChange={({ currentTarget: { value } }) => set(read(value))}
    />
  )
  return (
    <div class="setting">
      {options === undefined ? (
        <label>
          {label}
          {input}
        </label>
      ) : (
        <Choice
          label={label}
          aria-describedby={hint}
          options={options}
          value={String(shown)}
          choose={(one) => set(isFlag ? one === "true" : one)}
        />
      )}
      <p id={hint} class="soft">
        {about.flatMap((one) => (one ? [one.replace(/\.$/, "")] : [])).join(" · ")}
      </p>
    </div>
  )
}

const propertiesOf = ({ schema, defaults }: Form): ReadonlyArray<readonly [string, Property]> => {
  const known = (schema["properties"] ?? {}) as Readonly<Record<string, Property>>
  return [...new Set([...Object.keys(known), ...Object.keys(defaults)])].map((name) => [
    name,
    known[name] ?? {},
  ])
}

/** The settings without those that are not set. */
const given = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ""))

const Strategy = ({
  form,
  initial,
  session,
  settings,
  onSaved,
}: {
  readonly form: Form
  readonly initial: Values
  readonly session: string
  readonly settings: Settings
  readonly onSaved: () => void
}) => {
  const [values, setValues] = useState<Values>(initial)
  const [problem, setProblem] = useState<string | null>(null)
  const [saved, setSaved] = useState(false)
  const mayWrite = useRight("write")
  const save = async () => {
    const body = { strategy: form.name, settings: given(values) }
    await ask("/v1/settings", { method: "PUT", body })
    setSaved(true)
    onSaved()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setProblem(null)
        setSaved(false)
        save().catch((error: unknown) => setProblem(reasonOf(error)))
      }}
    >
      <div class="settings">
        {propertiesOf(form).map(([name, property]) => (
          <Field
            key={name}
            name={name}
            property={property}
            fallback={form.defaults[name] ?? property.default}
            values={values}
            set={(value) => setValues({ ...values, [name]: value })}
          />
        ))}
      </div>
      <h3>What it would have done to this session</h3>
      <Preview session={session} wanted={{ which: "all", strategy: form.name, settings: given(values) }} />
      <p class="soft">
        Saving sets the strategy of the service for all requests that name none, of every session.{" "}
        {settings.stored
          ? "It is stored in the settings file, and outlives the service."
          : "It holds until the service ends: it was started without a settings file."}
      </p>
      <Problem>{problem}</Problem>
      <div class="row">
        <button class="primary" disabled={!mayWrite} title={mayWrite ? undefined : "You may only read"}>
          Save for the service
        </button>
        <button type="button" onClick={() => setValues({})}>
          Defaults
        </button>
        {saved ? <span role="status">Saved.</span> : null}
      </div>
    </form>
  )
}

export const SettingsView = ({ timeline: { session } }: ViewProps) => {
  const [saves, setSaves] = useState(0)
  const [chosen, choose] = useState<string | null>(null)
  const { answer: settings, problem } = useAnswer<Settings>("/v1/settings", {}, { again: saves })
  if (settings === null) return problem === null ? <p class="soft">Reading…</p> : <Problem>{problem}</Problem>
  const name = chosen ?? settings.strategy
  const form = settings.strategies.find((one) => one.name === name)
  return (
    <div class="page-view">
      <h2>Settings of the service</h2>
      <Choice
        label="Strategy"
        options={settings.strategies.map(({ name }) => [
          name,
          `${name}${name === settings.strategy ? " (in force)" : ""}`,
        ])}
        value={name}
        choose={choose}
      />
      {form === undefined ? null : (
        <Strategy
          key={name}
          form={form}
          initial={name === settings.strategy ? settings.settings : {}}
          session={session}
          settings={settings}
          onSaved={() => setSaves(saves + 1)}
        />
      )}
    </div>
  )
}
