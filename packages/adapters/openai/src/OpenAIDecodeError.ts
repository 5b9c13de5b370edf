import { DecodeError } from "@memfold/codec"

/** The input is no message of Chat Completions, or no item of the Responses API: see `DecodeError` of `@memfold/codec` for the fields. */
export class OpenAIDecodeError extends DecodeError<OpenAIDecodeError>()("OpenAIDecodeError") {}
