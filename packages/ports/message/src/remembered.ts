/** Keeps the newest results of a function of texts: what is asked for is often what was asked for a moment ago. */

/** How many results are kept at most: the summaries of dozens of sessions have so many pieces. */
const most = 4_096

/**
 * The function with its newest results kept. A text is forgotten after as many others at the latest. A text that is cut from a longer
 * one keeps all of that one in memory.
 *
 * @param read - a pure function
 */
export const remembered = <A>(read: (text: string) => A): ((text: string) => A) => {
  let [newest, before] = [new Map<string, A>(), new Map<string, A>()]
  return (text) => {
    const known = newest.get(text)
    if (known !== undefined) return known
    const found = before.get(text) ?? read(text)
    if (newest.size >= most / 2) [newest, before] = [new Map(), newest]
    newest.set(text, found)
    return found
  }
}
