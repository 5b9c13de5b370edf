import { Schema } from "effect"

/**
 * While the model answered, the conversation went on from an earlier place: the user edited the question, or asked for another
 * answer. The rest of the first answer is not stored, and the call of the agent ends.
 */
export class BranchLeft extends Schema.TaggedError<BranchLeft>()("BranchLeft", {
  session: Schema.String,
}) {
  override get message(): string {
    return `Session "${this.session}": the conversation went on from an earlier place while the model answered; this answer ends here`
  }
}
