/** The contexts of a session, for the model that a call asks. */
import { isFields, type Server, serverOf, type StoredSession } from "@memfold/codec"
import type { Session } from "@memfold/core"
import type { ConvertDataPart, Major } from "./encode.js"
import { openGroup, rendered, type RenderedContext } from "./rendered.js"

/** A context, what an answer to it is produced behind, and who it is written for. */
export interface CallContext extends RenderedContext {
  readonly prefix: Session.Prefix
  readonly server: Server
}

/** Texts of instructions as one; none at all if they say nothing. */
export const joined = (...texts: ReadonlyArray<string | undefined>): { readonly system?: string } => {
  const all = texts.filter((text) => text !== undefined && text !== "")
  return all.length === 0 ? {} : { system: all.join("\n\n") }
}

/** Reads the contexts of a session. */
export class Contexts {
  /** Who gets the context, as far as it is known. */
  private server: string | undefined

  constructor(
    private readonly stored: StoredSession,
    private readonly options: {
      readonly instructions?: string
      readonly major: Major
      readonly server?: string | undefined
      readonly convertDataPart?: ConvertDataPart | undefined
    },
  ) {
    this.server = options.server
  }

  /** Notes the model that is asked: its name, or what it calls its provider, says who gets the context. */
  meet(model: unknown): void {
    const provider = isFields(model) ? model["provider"] : model
    if (this.options.server === undefined && typeof provider === "string") this.server = provider
  }

  /** The context, behind the instructions of the session. */
  async read(session = this.stored): Promise<CallContext> {
    const { server, options } = this
    const context = await session.memory.context(session.id)
    const open = await openGroup(session.known, context)
    const { system, ...rest } = rendered(context, open, { ...options, server })
    return {
      ...joined(options.instructions, system),
      ...rest,
      prefix: context.prefix,
      server: serverOf(server),
    }
  }

  /** Whether a context would be read and written as it is: this process knows of nothing that came since. */
  async isNewest({ server, prefix }: CallContext): Promise<boolean> {
    const { memory, id } = this.stored
    return server === serverOf(this.server) && (await memory.known?.version(id)) === prefix.version
  }
}
