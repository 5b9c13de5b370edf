/** The codec of the AI SDK's messages alone, for adapters of libraries that are built on them. It does not load `ai`. */
export { AiSdkDecodeError, decodeMessage, decodeMessages } from "./decode.js"
export {
  type AiSdkContext,
  encodeContext,
  type EncodedContext,
  encodeMessages,
  type ConvertDataPart,
  type DataPart,
  type EncodeOptions,
  type Major,
} from "./encode.js"
export { encodeUIMessages, type Group as PageGroup, type PageId } from "./ui/encode.js"
export { resentBehind, type Resent } from "./resent.js"
export {
  type Change,
  changeOf,
  type NewestMessages,
  type PageMessage,
  type ShownOptions,
  textsBehind,
  withUnseen,
} from "./shown.js"
