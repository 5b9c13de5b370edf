/** The records of a turn, as the engine encodes them: what a bare driver writes in the place of an append. */
import { EventCodec, type EventLog, Message } from "@memfold/core"
import { commitOf } from "../measure.js"
import { turnAt } from "./conversation.js"

/** The records of the turn at an index, from 0, of a session that has only turns. */
export const recordsAt = (
  index: number,
): readonly [EventLog.NewRecord, ...ReadonlyArray<EventLog.NewRecord>] => {
  const { user, assistant } = turnAt(index)
  const event = (position: number, message: Message.Message, tokens: number) => ({
    time: 1_800_000_000_000 + index,
    event: { _tag: "MessageAppended", index: 2 * index + position, message, tokens } as const,
  })
  const said = [event(0, Message.user(user), 30), event(1, Message.assistant(assistant), 120)] as const
  return EventCodec.encodeBatch({ session: "bare", version: 2 * index }, commitOf(index), said)
}
