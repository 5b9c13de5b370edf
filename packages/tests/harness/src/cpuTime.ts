/**
 * Measures processor time, for tests that something is not too slow: other than the clock, it does not go on while the
 * machine is busy with something else. Answers with what tells the milliseconds since the call.
 */
export const cpuTime = (): (() => number) => {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
}
