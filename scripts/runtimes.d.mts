export interface Runtime {
  readonly name: string
  readonly version: string
  readonly program: string
}
export const hasRuntimes: boolean
export const installedRuntimes: () => ReadonlyArray<Runtime>
export const installRuntimes: (options?: { readonly all?: boolean }) => void
