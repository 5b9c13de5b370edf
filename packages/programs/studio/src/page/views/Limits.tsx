/** What is near its limit: in the context at a version, under the strategy of the service. */
import type { schemas } from "@memfold/client"
import { useState } from "preact/hooks"
import { count, dollars, percent, several } from "../format.js"
import { Badge } from "../parts/Notices.js"
import { Table } from "../parts/Table.js"
import { ofSession } from "../service/ask.js"
import { useAnswer } from "../service/useAnswer.js"
import { cacheMarksIn, countedElsewhere, type Limit, limitsOf } from "../session/limits.js"
import type { Place } from "../session/ViewProps.js"

type Settings = typeof schemas.Settings.Type
type Spend = typeof schemas.SpentToday.Type

/** From this share of a limit on, a size is near it. */
const near = 0.8

/** How long a version stays before the service is asked about it, in milliseconds. */
const pause = 250

/** An amount with its unit: `2 turns`, `$0.50`. */
const amount = (value: number, unit: Limit["unit"]): string =>
  unit === "dollar" ? dollars(value) : several(value, unit)

const Share = ({ name, used, limit }: Limit) => (
  <>
    {used >= limit * near ? <Badge>{used >= limit ? "Reached" : "Near"}</Badge> : null}{" "}
    <meter
      aria-label={`${name}: ${percent(used, limit)}`}
      max={limit}
      high={limit * near}
      optimum={0}
      value={Math.min(used, limit)}
    />{" "}
    {percent(used, limit)}
  </>
)

export const Limits = ({ timeline, version, tokens }: Place & { readonly tokens: number }) => {
  const [window, setWindow] = useState(200_000)
  const { session, version: newest } = timeline
  const { answer: settings } = useAnswer<Settings>("/v1/settings")
  // What was spent today is asked again when the session has moved.
  const { answer: spend } = useAnswer<Spend>(ofSession(session, "/spend"), {}, { again: newest })
  const query = { atVersion: version, format: "anthropic", cacheControl: "5m" }
  const { answer: request } = useAnswer<unknown>(ofSession(session, "/context"), { query }, { pause })
  const cacheMarks = request === null ? null : cacheMarksIn(request)
  const elsewhere = spend === null ? [] : countedElsewhere(spend)
  const form = settings?.strategies.find(({ name }) => name === settings.strategy)
  const limits = limitsOf(
    settings?.strategy ?? "",
    { ...form?.defaults, ...settings?.settings },
    { state: timeline.at(version), tokens, cacheMarks, window, spend },
  )
  return (
    <>
      <h2>What is near its limit</h2>
      <p class="soft">
        {settings === null
          ? "The settings of the service are not known here."
          : `The strategy of the service is ${settings.strategy}; a request may name another one.`}
      </p>
      <label class="row inline">
        Window of the model, in tokens{" "}
        <input
          type="number"
          min={1}
          step={1}
          value={window}
          onInput={({ currentTarget }) => setWindow(Math.max(Number(currentTarget.value), 1))}
        />
      </label>
      <Table
        label="Limits"
        rows={limits}
        keyOf={({ name, unit }) => `${name} ${unit}`}
        columns={[
          ["Limit", ({ name }) => name],
          ["Used", ({ used, unit }) => (unit === "dollar" ? dollars(used) : count(used)), "number"],
          ["Of", ({ limit, unit }) => amount(limit, unit), "number"],
          ["Share", (limit) => <Share {...limit} />, "number"],
          ["What it is", ({ about }) => about, "about"],
        ]}
      />
      {elsewhere.length === 0 ? null : (
        <p class="soft">
          Spent today: {elsewhere.join(", ")}. Another process counts that, and its cap is not known here.
        </p>
      )}
    </>
  )
}
