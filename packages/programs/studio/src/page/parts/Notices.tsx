/** What the page says of itself: what it waits for, what went wrong, and how something is marked. */

import type { Progress } from "../service/ask.js"

/** What the page waits for: how far it is, where the service says it, and what stops it, where something does. */
export const Waiting = ({
  children: what,
  progress = null,
  stop,
}: {
  readonly children: string
  readonly progress?: Progress | null
  readonly stop?: () => void
}) => (
  <p class="soft">
    {what}…{" "}
    <progress aria-label={what} {...(progress === null ? {} : { value: progress.done, max: progress.of })} />{" "}
    {stop === undefined ? null : (
      <button type="button" onClick={stop}>
        Stop
      </button>
    )}
  </p>
)

/** What went wrong, if something did. */
export const Problem = ({ children: problem }: { readonly children: string | null }) =>
  problem === null ? null : (
    <p class="problem" role="alert">
      {problem}
    </p>
  )

/** The inks of badges. */
const inks: Readonly<Record<string, string>> = {
  Compressed: "summary",
  Summary: "summary",
  "Split Turn": "recalled",
  Pinned: "pinned",
  Pruned: "verbatim",
  Memory: "facts",
  Failed: "danger",
  "Taken back": "danger",
  "Not supported": "danger",
  Near: "danger",
  Reached: "danger",
}

export const Badge = ({ children: text }: { readonly children: string }) => (
  <span class={`badge ${inks[text] ?? ""}`}>{text}</span>
)

/** The square in the ink that something is drawn with. */
export const Swatch = ({ ink }: { readonly ink: string }) => <i class={`swatch ${ink}`} />
