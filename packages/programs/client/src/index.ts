/**
 * `@memfold/client`: a typed client for the service of `memfold serve`, with Promises.
 *
 * @packageDocumentation
 */
export type { ClientOptions, WriteOptions } from "./call.js"
export type { ConsumeOptions, Consumer, Redelivered } from "./consume.js"
export {
  type Client,
  createClient,
  type Found,
  type MessageName,
  type PreviewWithMessages,
  type OperationOptions,
  type WithMessages,
} from "./createClient.js"
export type { Problem, Status } from "./problem.js"
export { ServiceError } from "./ServiceError.js"
export type * as schemas from "./schemas.js"
