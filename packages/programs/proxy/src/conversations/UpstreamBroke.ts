/** The upstream broke off within its answer. */
export class UpstreamBroke extends Error {
  override readonly name = "UpstreamBroke"
  constructor() {
    super("the upstream broke off within its answer")
  }
}
