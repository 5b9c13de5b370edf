/** Building blocks of the codecs with a fault, each made by changing a line. A law of theirs has to fail, by the name of its test. */
import { faultsIn, type RimMutant } from "./rim.js"

const fault = faultsIn("packages/adapters/codec/src", "adapters/codec/src/")

const turns = ["turns", "every turn L17"] as const
const back = ["goBack", "a page that shows a branch which was left goes back"] as const

export const adapterMutants: ReadonlyArray<RimMutant> = [
  fault(
    "lets a request end with the assistant where the user has said nothing that can be written",
    turns,
    "turns",
    "isAnswer(earlier) && isAnswer(later)",
    "isAnswer(earlier) && later !== null && isAnswer(later)",
  ),
  fault(
    "has the user speak twice beside what was written",
    turns,
    "turns",
    "isAnswer(earlier) && isAnswer(later)",
    "isAnswer(earlier) || isAnswer(later)",
  ),
  fault(
    "takes the results of tools for an answer",
    turns,
    "turns",
    'speaker !== "user" && speaker !== "tool"',
    'speaker !== "user"',
  ),
  fault(
    "looks at how the message behind ends",
    turns,
    "turns",
    "next = turns[at]![0]",
    "next = turns[at]!.at(-1)",
  ),
  fault(
    "looks at how the message before begins",
    turns,
    "turns",
    "before = turns[at]!.at(-1)",
    "before = turns[at]![0]",
  ),
  fault("takes system messages for turns", turns, "turns", '.filter((speaker) => speaker !== "system")', ""),
  fault(
    "opens a request for any message but the last",
    turns,
    "turns",
    "later === null && at === last",
    "later === null && at !== last",
  ),
  fault(
    "goes back though the branch in force has what the page shows",
    back,
    "goBack",
    "messages.some((one, position) => isShown(one, from + position))",
    "messages.length === 0",
  ),
  fault("stays where it is", back, "goBack", "await memory.checkout(id, branch)", ""),
  fault(
    "goes back to the oldest branch that has what the page shows",
    back,
    "leftBranch",
    "of branches.slice(1)",
    "of branches.slice(1).reverse()",
  ),
  fault(
    "takes what both branches have for a reason to go back",
    back,
    "leftBranch",
    "from + at >= shared && isWanted",
    "isWanted",
  ),
  fault(
    "counts the messages of a left branch from the page",
    back,
    "leftBranch",
    "isWanted(message, from + at)",
    "isWanted(message, at - shared)",
  ),
]
