/** What the page shows, in the fragment of its address: so it can be kept, sent, and gone back from. */
import { useEffect, useState } from "preact/hooks"

/** The views of a session. */
export const views = ["time", "tokens", "trace", "compare", "settings"] as const
export type View = (typeof views)[number]

/** What the page shows. */
export interface Address {
  /** The session; `null` for the list. */
  readonly session: string | null
  readonly view: View
  /** The version; `null` for the newest, as it moves on. */
  readonly version: number | null
}

const nameOf = { session: "session", view: "view", version: "version" } as const

/** Reads an address. What it does not know, it takes for the default. */
export const parse = (fragment: string): Address => {
  const given = new URLSearchParams(fragment.replace(/^#/, ""))
  const view = given.get(nameOf.view)
  const version = Number(given.get(nameOf.version))
  return {
    session: given.get(nameOf.session),
    view: views.find((one) => one === view) ?? "time",
    version: Number.isSafeInteger(version) && version > 0 ? version : null,
  }
}

/** Writes an address. */
export const written = ({ session, view, version }: Address): string => {
  if (session === null) return "#"
  const query = new URLSearchParams({ [nameOf.session]: session })
  if (view !== "time") query.set(nameOf.view, view)
  if (version !== null) query.set(nameOf.version, String(version))
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
