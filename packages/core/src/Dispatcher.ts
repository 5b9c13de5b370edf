/** The port of queues, which carry the work of compactions to other processes, and what works in such a process. */
export { asking, DispatchError, Dispatcher, LookFailed, mostFailures } from "./shell/Dispatcher.js"
export type { DeadLetter, Look, Queue, Service, WorkOptions } from "./shell/Dispatcher.js"
export { work, type WorkerOptions } from "./memory/work.js"
