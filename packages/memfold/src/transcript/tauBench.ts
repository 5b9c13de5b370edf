/** tau-bench results: a list of trajectories, each with its messages in Chat Completions format as `traj`. */
import { nothing, readChat, type Reading } from "./chat.js"
import { decode } from "./openai.js"
import { isObject, type JsonObject, type Source } from "./source.js"

type Trajectory = JsonObject & { readonly traj: ReadonlyArray<unknown> }

const isTrajectory = (value: unknown): value is Trajectory => isObject(value) && Array.isArray(value["traj"])

/** The trajectories of a file; none if it is something else. */
export const trajectories = (source: Source): ReadonlyArray<Trajectory> => {
  if (source.kind === "lines") return []
  const list: ReadonlyArray<unknown> = Array.isArray(source.value) ? source.value : [source.value]
  return list.every(isTrajectory) ? list : []
}

/** Reads the trajectory at `pick`, which has to be one of them. */
export const read = (source: Source, pick: number): Reading => {
  const trajectory = trajectories(source)[pick]
  return trajectory === undefined
    ? nothing({ problem: "the file holds no trajectories", allowed: 'a JSON list of objects with "traj"' })
    : readChat(
        trajectory.traj.map((value) => ({ value })),
        decode,
      )
}
