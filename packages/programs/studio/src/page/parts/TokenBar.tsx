/** The bar of what the tokens of a context are for. */
import { count, percent, several } from "../format.js"
import { shares, type Taken } from "../session/shares.js"
import { Swatch } from "./Notices.js"

const nameOf = new Map(shares.map(({ share, name }) => [share, name]))

/** Shows the shares of a context as a bar with its legend. */
export const TokenBar = ({
  taken,
  tokens,
}: {
  readonly taken: ReadonlyArray<Taken>
  readonly tokens: number
}) => {
  const sent = taken.filter(({ share, tokens }) => tokens > 0 && share !== "left-out")
  const left = taken
    .filter(({ share }) => share === "left-out")
    .flatMap(({ messages, tokens, parts }) => [
      ...(messages > 0 ? [`${several(messages, "message")} of ${several(tokens, "token")}`] : []),
      ...parts,
    ])
  const spoken = sent.map((one) => `${nameOf.get(one.share)} ${count(one.tokens)}`).join(", ")
  return (
    <div class="token-bar">
      <div class="bar" role="img" aria-label={`${count(tokens)} tokens: ${spoken}`}>
        {sent.map(({ share, tokens }) => (
          <i
            key={share}
            class={share}
            style={{ flexGrow: tokens }}
            title={`${nameOf.get(share)}: ${count(tokens)}`}
          />
        ))}
      </div>
      <p class="legend">
        <strong>{count(tokens)} tokens</strong>
        {sent.map((one) => (
          <span key={one.share}>
            <Swatch ink={one.share} /> {nameOf.get(one.share)} {count(one.tokens)}{" "}
            <span class="soft">{percent(one.tokens, tokens)}</span>
          </span>
        ))}
        {left.length === 0 ? null : (
          <span>
            <Swatch ink="left-out" /> Left out: {left.join(", ")}
          </span>
        )}
      </p>
    </div>
  )
}
