/** Mastra writes every error of a call to the console, also the errors that a test provokes. */
import { afterAll, beforeAll, vi } from "vitest"

/** Keeps the console of a test file free of them. */
export const quiet = (): void => {
  beforeAll(() => {
    for (const method of ["error", "warn", "info"] as const) vi.spyOn(console, method).mockReturnValue()
  })
  afterAll(() => void vi.restoreAllMocks())
}
