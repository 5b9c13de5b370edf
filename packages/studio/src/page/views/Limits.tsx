/** What is near its limit: in the context at a version, under the strategy of the service. */
import type { schemas } from "@memfold/client"
import { useEffect, useState } from "preact/hooks"
import { count, dollars, percent, several } from "../format.js"
import { ask, ofSession } from "../service/ask.js"
import { cacheMarksIn, countedElsewhere, type Limit, limitsOf } from "../session/limits.js"
import type { Timeline } from "../session/Timeline.js"

type Settings = typeof schemas.Settings.Type
type Spend = typeof schemas.SpentToday.Type

/** From this share of a limit on, a size is near it. */
const near = 0.8

/** How long a version stays before the service is asked about it, in milliseconds. */
const pause = 250

const useSettings = (): Settings | null => {
  const [settings, set] = useState<Settings | null>(null)
  useEffect(() => {
    ask<Settings>("/v1/settings").then(set, () => undefined)
  }, [])
  return settings
}

/** What was spent today; `null` until it is known. It is asked again when the session has moved. */
const useSpend = (session: string, newest: number): Spend | null => {
  const [spend, set] = useState<Spend | null>(null)
  useEffect(() => {
    const stop = new AbortController()
    ask<Spend>(ofSession(session, "/spend"), { signal: stop.signal }).then(set, () => undefined)
    return () => stop.abort()
  }, [session, newest])
  return spend
}

/** An amount with its unit: `2 turns`, `$0.50`. */
const amount = (value: number, unit: Limit["unit"]): string =>
  unit === "dollar" ? dollars(value) : several(value, unit)

/** The `cache_control` marks of a request to Anthropic at a version; `null` until they are known. */
const useCacheMarks = (session: string, version: number): number | null => {
  const [found, set] = useState<{ readonly version: number; readonly marks: number } | null>(null)
  useEffect(() => {
    const stop = new AbortController()
    const timer = setTimeout(() => {
      ask<unknown>(ofSession(session, "/context"), {
        query: { atVersion: version, format: "anthropic", cacheControl: "5m" },
        signal: stop.signal,
      }).then(
        (request) => set({ version, marks: cacheMarksIn(request) }),
        () => undefined,
      )
    }, pause)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [session, version])
  return found?.version === version ? found.marks : null
}

export const Limits = ({
  timeline,
  version,
  tokens,
}: {
  readonly timeline: Timeline
  readonly version: number
  readonly tokens: number
}) => {
  const [window, setWindow] = useState(200_000)
  const cacheMarks = useCacheMarks(timeline.session, version)
  const settings = useSettings()
  const spend = useSpend(timeline.session, timeline.version)
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
      <label class="inline">
        Window of the model, in tokens{" "}
        <input
          type="number"
          min={1}
          step={1}
          value={window}
          onInput={({ currentTarget }) => setWindow(Math.max(Number(currentTarget.value), 1))}
        />
      </label>
      <div class="wide" tabIndex={0} role="group" aria-label="Limits">
        <table class="limits">
          <thead>
            <tr>
              <th scope="col">Limit</th>
              <th scope="col">Used</th>
              <th scope="col">Of</th>
              <th scope="col">Share</th>
              <th scope="col">What it is</th>
            </tr>
          </thead>
          <tbody>
            {limits.map(({ name, used, limit, unit, about }) => (
              <tr key={`${name} ${unit}`}>
                <th scope="row">{name}</th>
                <td data-label="Used">{unit === "dollar" ? dollars(used) : count(used)}</td>
                <td data-label="Of">{amount(limit, unit)}</td>
                <td data-label="Share">
                  <meter
                    aria-label={`${name}: ${percent(used, limit)}`}
                    min={0}
                    max={limit}
                    high={limit * near}
                    optimum={0}
                    value={Math.min(used, limit)}
                  />{" "}
                  {percent(used, limit)}
                  {used >= limit * near ? (
                    <>
                      {" "}
                      <span class="badge failed">{used >= limit ? "Reached" : "Near"}</span>
                    </>
                  ) : null}
                </td>
                <td class="about">{about}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {elsewhere.length === 0 ? null : (
        <p class="soft">
          Spent today: {elsewhere.join(", ")}. Another process counts that, and its cap is not known here.
        </p>
      )}
    </>
  )
}
