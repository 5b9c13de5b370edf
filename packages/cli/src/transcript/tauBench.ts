/** tau-bench results: a list of trajectories, each with Chat Completions messages in `traj`. */
import { readChat } from "./chat.js"
import { nothing, type Reader, single } from "./Reader.js"
import { decode } from "./openai.js"
import { isObject, type JsonObject, type Source } from "./source.js"

type Trajectory = JsonObject & { readonly traj: ReadonlyArray<unknown> }

const isTrajectory = (value: unknown): value is Trajectory => isObject(value) && Array.isArray(value["traj"])

/** The trajectories of a file; none if it is not a list of them. */
const trajectories = (source: Source): ReadonlyArray<Trajectory> => {
  if (source.kind === "lines") return []
  const list: ReadonlyArray<unknown> = Array.isArray(source.value) ? source.value : [source.value]
  return list.every(isTrajectory) ? list : []
}

export const reader: Reader = {
  recognizes: (source) => trajectories(source).length > 0,
  find: (source) => {
    const all = trajectories(source)
    return all.length === 0
      ? single(() =>
          nothing({
            problem: "the file holds no trajectories",
            allowed: 'a JSON list of objects with "traj"',
          }),
        )
      : all.map(({ traj }) => ({
          read: () =>
            readChat(
              traj.map((value) => ({ value })),
              decode,
            ),
        }))
  },
}
