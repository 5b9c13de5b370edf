/** What was left out of a context, and why. */
import type { Render } from "@memfold/core"
import { messages } from "../format.js"
import { whyLeftOut } from "../session/shares.js"

export const leftOutOf = ({ layout }: Pick<Render.Context, "layout">): Render.Context["layout"] =>
  layout.filter(({ section }) => whyLeftOut[section] !== undefined)

export const LeftOut = ({ sections }: { readonly sections: Render.Context["layout"] }) => (
  <ul>
    {sections.map((one, at) => (
      <li key={at}>
        {one.parts === undefined ? "" : `${one.parts.join(", ")} in `}
        {messages(one)}: {whyLeftOut[one.section]}
      </li>
    ))}
  </ul>
)
