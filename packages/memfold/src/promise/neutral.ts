/** The operations of a memory in messages of core, for the adapters of agent libraries. */
import type { Memory } from "@memfold/core"
import type { LifeCycle } from "./lifeCycle.js"

/** The neutral operations, each run by the life cycle of the memory. */
export const neutralOperations = (run: LifeCycle["run"]): Memory.Neutral => ({
  append: (session, messages, given) =>
    run((memory) => memory.append(session, messages, given), { finishes: true }),
  context: (session) => run((memory) => memory.context(session)),
  messages: (session, page) => run((memory) => memory.messages(session, page)),
  rewrite: (session, rewrite, given) =>
    run((memory) => memory.rewrite(session, rewrite, given), { finishes: true }),
  edit: (session, from, messages, given) =>
    run((memory) => memory.edit(session, from, messages, given), { finishes: true }),
  regenerate: (session, given) => run((memory) => memory.regenerate(session, given), { finishes: true }),
  branches: (session) => run((memory) => memory.branches(session)),
  checkout: (session, branch) => run((memory) => memory.checkout(session, branch), { finishes: true }),
  clear: (session) => run((memory) => memory.clear(session)),
})
