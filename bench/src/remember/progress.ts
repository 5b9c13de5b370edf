/** How far the benchmark is: a line on the terminal that the next one replaces. */
import type { RunOptions } from "@memfold/lab"

/** Shows a line; an empty one removes it. Where nobody watches, nothing is written. */
const tell = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`)
}

/** Shows how far a run of the lab is. */
export const progress =
  (name: string): NonNullable<RunOptions["onProgress"]> =>
  ({ done, total, conversation, policy }) =>
    tell(
      done === total
        ? ""
        : `  ${name}, ${done} of ${total}: ${conversation}${policy === undefined ? "" : ` with ${policy}`}`,
    )
