/** The context that is rendered from a state, as users of the package see it. */
export { headOf, render } from "./render/Render.js"
export { openInOrder } from "./render/pairResults.js"
export type { Addition, Additions, AdditionsBefore, ShownBlocks } from "./render/Additions.js"
export type { BoundReasoning, Context, RenderStyle } from "./render/Render.js"
export type { Section, SectionName } from "./render/Section.js"
