/** The report of the lab as JSON Lines. */
import type { Report } from "@memfold/lab"

/** The records of a report: the run, each policy, and each conversation under each policy. */
export const labRecords = ({
  prices,
  recallTokens,
  conversations,
  policies,
}: Report): ReadonlyArray<object> => [
  { type: "run", prices, recallTokens, conversations },
  ...policies.map(({ name, costs, replays: _replays, ...rest }) => ({
    type: "policy",
    policy: name,
    costs: costs.map((cost, at) => ({ model: prices[at]?.model, ...cost })),
    ...rest,
  })),
  ...policies.flatMap(({ name, replays }) =>
    replays.map((replay) => ({ type: "replay", policy: name, ...replay })),
  ),
]
