import { Prompt } from "@effect/ai"

/** A prompt with instructions in front. */
export const prepended = (instructions: string | undefined, prompt: Prompt.Prompt): Prompt.Prompt =>
  instructions === undefined || instructions === ""
    ? prompt
    : Prompt.merge(Prompt.make([{ role: "system", content: instructions }]), prompt)
