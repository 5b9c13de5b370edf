/**
 * `npm run bench -- remember`: what stands in contexts when it is needed, and what it costs. The conversations and
 * questions are those of LoCoMo; the folder with the data comes from `MEMFOLD_DATA`.
 */
import { conversations } from "./locomo.js"
import { recallOf } from "./recall.js"
import { costs } from "./costs.js"

export const remember = async (): Promise<boolean> => {
  const all = conversations()
  if (all === null) return true
  const recalls = await recallOf(all)
  return (await costs(all)) && recalls
}
