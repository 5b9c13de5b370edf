/**
 * The table of fields against the types of the installed clients: a field or a type that a client knows and the table does not fails
 * here, and so does a field of the table that no client knows.
 */
import type {
  BetaContentBlockParam,
  BetaMessageParam,
} from "@anthropic-ai/sdk/resources/beta/messages/messages"
import type { ContentBlockParam, MessageParam } from "@anthropic-ai/sdk/resources/messages/messages"
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions/completions"
import type {
  ResponseInputItem,
  ResponseItem,
  ResponseOutputItem,
} from "openai/resources/responses/responses"
import { fileURLToPath } from "node:url"
import { API, type Checker, type Symbol as Member, type Type, TypeFlags } from "typescript/unstable/sync"
import { afterAll, describe, expect, it } from "vitest"
import { type KnownInside, requestFields } from "./requestFields.js"

/** What requests have. The Responses API takes what it gave, too. */
export interface Requests {
  openai: ChatCompletionMessageParam
  "openai-responses": ResponseInputItem | ResponseOutputItem | ResponseItem
  anthropic: ContentBlockParam | BetaContentBlockParam
  anthropicMessages: MessageParam | BetaMessageParam
}

/** Fields of the table that no client knows, and fields inside of which the table knows nothing: tools are the program's. */
const beside = ["openai.tool.name", "openai-responses.local_shell_call_output.call_id"]
const unchecked =
  /\.(?:tools|tool)$|^anthropicMessages\.\w+\.content$|^openai-responses\.mcp_list_tools\.tools$/u

/** Reads the fields of a type, and of what is inside it, as paths such as `openai.user.content.text.type`. */
class Fields {
  readonly paths = new Set<string>()

  constructor(private readonly checker: Checker) {}

  private members(type: Type): ReadonlyArray<Type> {
    if (type.isUnionType()) return (type.getTypes() ?? []).flatMap((one) => this.members(one))
    return this.checker.isArrayLikeType(type) && type.isTypeReference()
      ? this.checker.getTypeArguments(type).flatMap((one) => this.members(one))
      : [type]
  }

  private typeOf(field: Member): Type {
    const type = this.checker.getTypeOfSymbol(field)
    if (type === undefined) throw new Error(`the field ${field.name} has no type`)
    return type
  }

  /** The texts that a field may be; none for a field that may be any text. */
  private literals(field: Member): ReadonlyArray<string> {
    return this.members(this.typeOf(field)).flatMap((one) =>
      one.isStringLiteralType() ? [String(one.value)] : [],
    )
  }

  read(type: Type, path: string, around: ReadonlyArray<number> = []): void {
    const members = this.members(type)
    if (members.some(({ flags }) => (flags & (TypeFlags.Any | TypeFlags.Unknown)) !== 0)) return
    const objects = members.filter((one) => one.isObjectType() || one.isIntersectionType())
    // A map with names of any kind.
    if (objects.some((one) => this.checker.getIndexInfosOfType(one).length > 0)) return
    for (const one of objects) {
      if (around.includes(one.id)) throw new Error(`${path} is inside of itself`)
      const fields = this.checker.getPropertiesOfType(one)
      const kind = fields.find(({ name }) => name === "type") ?? fields.find(({ name }) => name === "role")
      const kinds = kind === undefined ? [] : this.literals(kind)
      for (const place of kinds.length === 0 ? [path] : kinds.map((name) => `${path}.${name}`)) {
        for (const field of fields) {
          const at = `${place}.${field.name}`
          this.paths.add(at)
          if (!unchecked.test(at)) this.read(this.typeOf(field), at, [...around, one.id])
        }
      }
    }
  }
}

/** The paths of the table. */
const pathsOf = (inside: KnownInside, path: string): ReadonlyArray<string> => {
  if (inside === true) return []
  return "fields" in inside
    ? Object.entries(inside.fields).flatMap(([name, one]) => [
        `${path}.${name}`,
        ...pathsOf(one, `${path}.${name}`),
      ])
    : Object.entries(inside.types).flatMap(([type, one]) => pathsOf(one, `${path}.${type}`))
}

describe("the table of fields", () => {
  const folder = fileURLToPath(new URL("..", import.meta.url))
  const compiler = new API({ cwd: folder })
  afterAll(() => compiler.close())
  const project = compiler
    .updateSnapshot({ openProjects: [`${folder}tsconfig.json`] })
    .getProject(`${folder}tsconfig.json`)
  if (project === undefined) throw new Error("the project of this folder cannot be opened")
  const { checker, program } = project
  const here = program.getSourceFile(fileURLToPath(import.meta.url))
  const module = here === undefined ? undefined : checker.getSymbolAtLocation(here)
  const named = module === undefined ? [] : checker.getExportsOfModule(module)
  const requests = named.find(({ name }) => name === "Requests")

  it.each(Object.keys(requestFields) as ReadonlyArray<keyof typeof requestFields>)(
    "has each field that the client of %s knows, and no other",
    (api) => {
      const request = requests && checker.getPropertyOfType(checker.getDeclaredTypeOfSymbol(requests), api)
      const type = request && checker.getTypeOfSymbol(request)
      if (type === undefined) throw new Error(`no type of ${api}`)
      const fields = new Fields(checker)
      fields.read(type, api)
      const paths = [...fields.paths, ...beside.filter((path) => path.startsWith(`${api}.`))]
      expect(paths.length).toBeGreaterThan(6)
      expect(pathsOf(requestFields[api], api).toSorted()).toEqual(paths.toSorted())
    },
  )
})
