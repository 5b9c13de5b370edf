/** tau-bench results: a list of trajectories, each with Chat Completions messages in `traj`. */
import { nothing, readChat, type Reading } from "./chat.js"
import { decode } from "./openai.js"
import { isObject, type JsonObject, type Source } from "./source.js"

type Trajectory = JsonObject & { readonly traj: ReadonlyArray<unknown> }

const isTrajectory = (value: unknown): value is Trajectory => isObject(value) && Array.isArray(value["traj"])

/** The trajectories of a file; none if it is not a list of them. */
export const trajectories = (source: Source): ReadonlyArray<Trajectory> => {
  if (source.kind === "lines") return []
  const list: ReadonlyArray<unknown> = Array.isArray(source.value) ? source.value : [source.value]
  return list.every(isTrajectory) ? list : []
}

/** Reads the trajectory at index `pick`. */
export const read = (source: Source, pick: number): Reading => {
  const trajectory = trajectories(source)[pick]
  return trajectory === undefined
    ? nothing({ problem: "the file holds no trajectories", allowed: 'a JSON list of objects with "traj"' })
    : readChat(
        trajectory.traj.map((value) => ({ value })),
        decode,
      )
}
