/** Turns of a request: messages that travel as one, and what the API takes of them. */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import type { Block, Blocks } from "./BlockWriter.js"
import type { Form } from "./form.js"

/** Messages that travel as one: the results of parallel calls, and what the user says right after them. */
export interface Turn extends Blocks {
  readonly role: "user" | "assistant" | "system"
  content: Form["content"]
  fields: Codec.Fields | undefined
  readonly separate?: Form["separate"]
}

export const wireRole = (role: Message.Role): Turn["role"] => (role === "tool" ? "user" : role)

/** A compaction block stands alone: merged with the next message, it would not be the message that the API returned. */
const standsAlone = (turn: Turn | undefined): boolean => turn?.others[0]?.fields["type"] === "compaction"

/** Adds a turn: neighbours of the same role are one, unless they are separate. */
export const addTurn = (turns: Array<Turn>, turn: Turn, isSeparate = false): void => {
  const open = turns.at(-1)
  if (open === undefined || open.role !== turn.role || standsAlone(open) || isSeparate)
    return void turns.push(turn)
  open.results.push(...turn.results)
  open.others.push(...turn.others)
  if (turn.fields !== undefined) open.fields = Codec.restore(open.fields ?? {}, turn.fields)
}

const isThinking = ({ fields }: Block): boolean =>
  fields["type"] === "thinking" || fields["type"] === "redacted_thinking"

/** A system message stays among the messages only right behind a user's; the others go into the `system` field. */
const placeSystem = (
  turns: ReadonlyArray<Turn>,
): { readonly kept: ReadonlyArray<Turn>; readonly hoisted: ReadonlyArray<Turn> } => {
  const kept: Array<Turn> = []
  const hoisted: Array<Turn> = []
  for (const turn of turns) {
    const isHoisted = turn.role === "system" && kept.at(-1)?.role !== "user"
    ;(isHoisted ? hoisted : kept).push(turn)
  }
  return { kept, hoisted }
}

/** No message of the assistant may end with thinking, so what ends one is left out. */
export const withoutLastThoughts = (
  turns: ReadonlyArray<Turn>,
  omitted: Array<Codec.Omitted>,
): ReadonlyArray<Turn> =>
  turns.flatMap((turn) => {
    if (turn.role !== "assistant") return [turn]
    const end = turn.others.findLastIndex((block) => !isThinking(block)) + 1
    for (const { message, part } of turn.others.slice(end)) omitted.push({ message, part })
    return end === 0 && turn.results.length === 0 ? [] : [{ ...turn, others: turn.others.slice(0, end) }]
  })

/**
 * A system message in the midst of the conversation that goes into the `system` field changes what stands before all
 * that was said until then, so reasoning before it is no longer valid.
 */
export const withoutEarlierThoughts = (
  turns: ReadonlyArray<Turn>,
  hoisted: ReadonlyArray<Block>,
  begin: number,
  omitted: Array<Codec.Omitted>,
): ReadonlyArray<Turn> => {
  const unplaced = placeSystem(turns).hoisted.flatMap(({ others }) => others)
  const late = [...hoisted, ...unplaced].filter(({ message }) => message >= begin)
  const last = Math.max(-1, ...late.map(({ message }) => message))
  return turns.flatMap((turn) => {
    const isDropped = (block: Block) => isThinking(block) && block.message < last
    const dropped = turn.others.filter(isDropped)
    for (const { message, part } of dropped) omitted.push({ message, part })
    const others = turn.others.filter((block) => !isDropped(block))
    return dropped.length > 0 && others.length + turn.results.length === 0 ? [] : [{ ...turn, others }]
  })
}

/** Whose turn it is; a compaction of the API may stand first. */
export const speakerOf = (turn: Turn): Codec.Speaker => (standsAlone(turn) ? undefined : turn.role)

export const saying = (role: "user" | "assistant", text: string): Turn => ({
  role,
  results: [],
  others: [{ fields: { type: "text", text }, message: 0, part: "text" }],
  content: undefined,
  fields: undefined,
})

/**
 * The turns in an order that the API accepts: a system message stands only right behind a user's (any other one goes
 * into the `system` field), the first message is the user's, and neighbours of the same role are one.
 */
export const asAccepted = (
  given: ReadonlyArray<Turn>,
): { readonly turns: ReadonlyArray<Turn>; readonly system: ReadonlyArray<Block> } => {
  const { kept, hoisted } = placeSystem(given)
  const turns: Array<Turn> = []
  for (const turn of kept) addTurn(turns, turn)
  const opened = Codec.inTurns(turns, Codec.servers.anthropic, speakerOf, saying)
  return { turns: opened, system: hoisted.flatMap(({ others }) => others) }
}

/** The messages as the model of the request takes them. */
