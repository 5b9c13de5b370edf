/** The handlers: each one is an operation of the memory, with what the request says. */
import { Layer } from "effect"
import { conversation } from "./handlers/conversation.js"
import { governance } from "./handlers/governance.js"
import { memory } from "./handlers/memory.js"
import type { Serving } from "./handlers/operation.js"
import { log, service } from "./handlers/service.js"
import { owners, sessions } from "./handlers/sessions.js"

export const handlersOf = (serving: Serving) =>
  Layer.mergeAll(
    sessions(serving),
    owners(serving),
    governance(serving),
    conversation(serving),
    memory(serving),
    log(serving),
    service(serving),
  )
