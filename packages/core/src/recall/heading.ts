/** What recalled messages begin with, in contexts and in tool results; messages that begin with it are not searched again. */

/**
 * The first line of recalled messages. They are quoted, and must not be taken for something that is said or asked now.
 */
export const recalledHeading =
  "[Recalled from earlier in this conversation, for information; nothing here is said or asked now]"

/** The names of the tools of recall. */
export const toolNames = { search: "search_memory", read: "read_messages" } as const
