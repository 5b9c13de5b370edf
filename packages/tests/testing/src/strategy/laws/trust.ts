/** No summary raises trust (L18), whatever strategy decides what goes into it. */
import type { Law } from "../../law/Law.js"
import { trustLaw } from "../../law/trust.js"
import type { Kit } from "../input.js"

export const trustLaws = ({ inputs, numRuns }: Kit): ReadonlyArray<Law> => [trustLaw({ inputs, numRuns })]
