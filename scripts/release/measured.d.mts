/** What `measured.json` has of a runtime. */
export interface MeasuredRuntime {
  readonly name: string
  readonly version: string
  /** How many first blocks were run, and of which packages they failed. */
  readonly of: number
  readonly failed: ReadonlyArray<string>
}
export declare const measured: () => {
  /** The oldest version of TypeScript that the declarations are for. */
  readonly typescript: string
  readonly runtimes: ReadonlyArray<MeasuredRuntime>
  /** What the installation of some packages brings. */
  readonly installs: ReadonlyArray<{
    readonly names: ReadonlyArray<string>
    readonly npm: { readonly packages: number }
  }>
}
export declare const tables: () => { readonly runtimes: string; readonly installs: string }
