import type { Duration } from "effect"

/** How a file is opened. */
export interface Options {
  /** The path of the database file, or `:memory:` for a database that ends with the process. */
  readonly filename: string
  /** Whether to create a file that does not exist; `true` by default. */
  readonly create?: boolean
  /** Opens the file to read it; every write fails. `false` by default. */
  readonly readonly?: boolean
  /**
   * How durable an append is when it returns. `full` (default): it survives a power cut. `normal`: it survives a killed
   * process, but a power cut can lose the last appends, newest first; faster, because it does not wait for the disk.
   * With either, the file stays valid and no log gets a gap.
   */
  readonly synchronous?: "full" | "normal"
  /** How long a writer waits for the lock of another one; 30 seconds by default. */
  readonly busyTimeout?: Duration.DurationInput
}
