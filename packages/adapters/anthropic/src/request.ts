/** A message of the Messages API, and its blocks, as a request has them: the API refuses a field that it does not have. */
import * as Codec from "@memfold/codec"

const { anthropic, anthropicMessages } = Codec.requestFields

/**
 * A block with the fields that a request knows, in its content, too.
 *
 * @param block - the block, with everything that it came with
 * @param further - names of further fields that the server takes
 */
export const requestBlock = (block: Codec.Fields, further: ReadonlySet<string>): Codec.Fields => {
  const allowed = Codec.knownOf(anthropic, block)
  return allowed === undefined ? block : Codec.onlyKnown(block, allowed, further)
}

/** A message with the fields that a request knows; its blocks stay as they are. */
export const requestMessage = (message: Codec.Fields, further: ReadonlySet<string>): Codec.Fields => {
  const allowed = Codec.knownOf(anthropicMessages, message)
  return allowed === undefined ? message : Codec.onlyKnown(message, allowed, further)
}
