/** The owner and the title of a session, from its events. Stores keep them beside the log, to list sessions by owner. */
import type { GuardCounts, SessionDescribed } from "../event/Event.js"
import type { AnyEvent } from "../event/EventCodec.js"
import type { Description } from "@memfold/log/Projections"

/** A session that nobody has described. */
export const noDescription: Description = { owner: null, title: null }

/** The description after an event. What the event does not name stays. A clear changes nothing. */
export const describedBy = (before: Description, event: AnyEvent): Description =>
  event._tag === "SessionDescribed"
    ? {
        owner: event.owner === undefined ? before.owner : event.owner,
        title: event.title === undefined ? before.title : event.title,
      }
    : before

/** What a description is to become: a field that is missing stays, `null` removes it. */
export interface DescriptionChange {
  readonly owner?: string | null | undefined
  readonly title?: string | null | undefined
}

/** Whether a change takes a session from its owner. A session without an owner can be given one. */
export const changesOwner = (before: Description, { owner }: DescriptionChange): boolean =>
  owner !== undefined && before.owner !== null && owner !== before.owner

/** A change as it is stored: `guarded` says what a guard has left out of the title. */
export interface GuardedChange extends DescriptionChange {
  readonly guarded?: GuardCounts | undefined
}

/** The event for a change; none if nothing changes. */
export const describe = (
  before: Description,
  { owner, title, guarded }: GuardedChange,
): ReadonlyArray<SessionDescribed> => {
  const isNewOwner = owner !== undefined && owner !== before.owner
  const isNewTitle = title !== undefined && title !== before.title
  if (!isNewOwner && !isNewTitle) return []
  return [
    {
      _tag: "SessionDescribed",
      ...(isNewOwner ? { owner } : {}),
      ...(isNewTitle ? { title } : {}),
      ...(isNewTitle && guarded !== undefined ? { guarded } : {}),
    },
  ]
}
