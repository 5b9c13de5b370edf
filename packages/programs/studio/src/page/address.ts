/** What the page shows, in the fragment of its address: so it can be kept, sent, and gone back from. */
import { useEffect, useState } from "preact/hooks"

export const views = ["time", "tokens", "trace", "compare", "facts", "audit", "settings"] as const
export type View = (typeof views)[number]

/** What the page shows. */
export interface Address {
  /** The session; `null` for the list. */
  readonly session: string | null
  readonly view: View
  /** The version; `null` for the newest, as it moves on. */
  readonly version: number | null
  /** The message to show, by its index; none by default. */
  readonly message?: number | null
}

/** A whole number that is not below `least`, if a text is one. */
const numberIn = (text: string | null, least: number): number | null => {
  const value = Number(text ?? Number.NaN)
  return Number.isSafeInteger(value) && value >= least ? value : null
}

/** Reads an address. What it does not know, it takes for the default. */
export const parse = (fragment: string): Address => {
  const given = new URLSearchParams(fragment.replace(/^#/, ""))
  return {
    session: given.get("session"),
    view: views.find((one) => one === given.get("view")) ?? "time",
    version: numberIn(given.get("version"), 1),
    message: numberIn(given.get("message"), 0),
  }
}

export const written = ({ session, view, version, message = null }: Address): string => {
  if (session === null) return "#"
  const query = new URLSearchParams({ session })
  if (view !== "time") query.set("view", view)
  if (version !== null) query.set("version", String(version))
  if (message !== null) query.set("message", String(message))
  return `#${query}`
}

const moved = new EventTarget()

/** Goes to an address. `replace`: the place before is not one to go back to. */
export const go = (address: Address, { replace = false } = {}): void => {
  history[replace ? "replaceState" : "pushState"](null, "", written(address))
  moved.dispatchEvent(new Event("move"))
}

/** The address, as it changes. */
export const useAddress = (): Address => {
  const [address, set] = useState(() => parse(location.hash))
  useEffect(() => {
    const read = () => set(parse(location.hash))
    addEventListener("popstate", read)
    moved.addEventListener("move", read)
    return () => {
      removeEventListener("popstate", read)
      moved.removeEventListener("move", read)
    }
  }, [])
  return address
}
