/** The cost of work. Without imports: a new process that is measured loads this first. */

/** Milliseconds by the clock, and of processor time in all threads of the process. */
export interface Cost {
  readonly wall: number
  readonly cpu: number
}

/** The cost of some work. */
export const costOf = async (work: () => unknown): Promise<Cost> => {
  const [before, cpuBefore] = [performance.now(), process.cpuUsage()]
  await work()
  const wall = performance.now() - before
  const { user, system } = process.cpuUsage(cpuBefore)
  return { wall, cpu: (user + system) / 1_000 }
}
