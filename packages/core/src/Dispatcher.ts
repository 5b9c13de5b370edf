/** The port of queues, which carry the work of compactions to other processes, and what works in such a process. */
export { asking, DispatchError, Dispatcher, LookFailed } from "@memfold/log/Dispatcher"
export type { DeadLetter, Look, Queue, Service, WorkOptions } from "@memfold/log/Dispatcher"
export { mostFailures } from "./shell/dispatch.js"
export { work, type WorkerOptions } from "./memory/work.js"
