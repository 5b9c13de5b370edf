/** Items of the Responses API: what its `input` and its `output` consist of. */
export { append, type Appended, type AppendOptions, find, type Place, UnknownResponse } from "./append.js"
export { decodeItems, type Decoding, decodingInSteps } from "./decode.js"
export { encodeAndReport, encodeItems, encodingInSteps, type Encoded, type EncodeOptions } from "./encode.js"
export { placeSummaries } from "./summaries.js"
export type {
  AssistantMessage,
  FunctionCall,
  FunctionCallOutput,
  InputFile,
  InputImage,
  InputMessage,
  InputText,
  ReasoningItem,
  ResponsesItem,
} from "./wire.js"
