/** The tokens that a provider or a library reports for an answer. */
import type { Message } from "@memfold/message"

/** Whether a value is a number of tokens. */
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0

/**
 * The usage of a message: the tokens that the model produced and that stay in the conversation, and those of the prompt. None without a
 * number of tokens that it produced.
 *
 * @param input - the tokens of the whole prompt, cached ones included
 * @param output - the tokens that the model produced
 * @param hidden - how many of these are of reasoning that the message does not have
 */
export const usageOf = (
  input: unknown,
  output: unknown,
  hidden?: unknown,
): { readonly usage?: Message.Usage } =>
  isCount(output)
    ? {
        usage: {
          ...(isCount(input) ? { input } : {}),
          output: Math.max(output - (isCount(hidden) ? hidden : 0), 0),
        },
      }
    : {}
