import type { Conversation } from "./locomo.js"
export const costs = async (_all: ReadonlyArray<Conversation>): Promise<boolean> => true
