/** What the caller may do. */
import type { Right } from "@memfold/client/api"
import { createContext } from "preact"
import { useContext } from "preact/hooks"

export type Rights = ReadonlySet<Right>

/** Hands the rights to the whole page; none until the service has said them. */
export const RightsContext = createContext<Rights>(new Set())

export const useRight = (right: Right): boolean => useContext(RightsContext).has(right)
