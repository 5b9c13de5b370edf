/**
 * Describes schema failures: where, which kind of value was found, and what is allowed. The value itself is never shown,
 * because it is part of a conversation.
 */
import { Option, type ParseResult, SchemaAST } from "effect"

/**
 * `problem` continues a sentence about the message ("has no role"); `path` is empty for the whole of it. `use` names what
 * reads a message of another library.
 */
export interface Problem {
  readonly use?: string
  readonly path: string
  readonly problem: string
  readonly allowed: string
}

interface Mismatch {
  readonly path: ReadonlyArray<PropertyKey>
  readonly expected: SchemaAST.AST
  /** Absent when the field is missing altogether. */
  readonly actual?: { readonly value: unknown }
}

/** The kind of a value ("a list", "a string"), without the value. */
export const kindOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "a list"
  if (value === undefined) return "nothing"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

const deeper = (one: Mismatch, other: Mismatch): Mismatch =>
  other.path.length > one.path.length ? other : one

const locate = (issue: ParseResult.ParseIssue, path: ReadonlyArray<PropertyKey>): Mismatch => {
  switch (issue._tag) {
    case "Pointer":
      return locate(issue.issue, path.concat(issue.path))
    case "Composite": {
      const inside = [issue.issues]
        .flat()
        .map((one) => locate(one as ParseResult.ParseIssue, path))
        .reduce(deeper)
      // Of a union, report the member that matched deepest; if none matched at all, the whole union.
      return SchemaAST.isUnion(issue.ast) && inside.path.length === path.length
        ? { path, expected: issue.ast, actual: { value: issue.actual } }
        : inside
    }
    case "Missing":
      return { path, expected: issue.ast.type }
    case "Refinement":
    case "Transformation":
      return issue.kind === "From"
        ? locate(issue.issue, path)
        : { path, expected: issue.ast, actual: { value: issue.actual } }
    case "Type":
    case "Forbidden":
      return { path, expected: issue.ast, actual: { value: issue.actual } }
    case "Unexpected":
      return { path, expected: SchemaAST.neverKeyword, actual: { value: issue.actual } }
  }
}

const written = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (text, key) =>
      typeof key === "number" ? `${text}[${key}]` : text + (text === "" ? "" : ".") + String(key),
    "",
  )

/** What a schema takes, in words: its description where it has one. */
const told = (ast: SchemaAST.AST): string =>
  Option.getOrElse(SchemaAST.getDescriptionAnnotation(ast), () => {
    switch (ast._tag) {
      case "Union":
        return ast.types
          .filter((type) => !SchemaAST.isUndefinedKeyword(type))
          .map(told)
          .join(" or ")
      case "TupleType":
        return "a list"
      case "TypeLiteral":
        return "an object"
      default:
        return String(ast)
    }
  })

/** A schema's parse error as a {@link Problem}. */
export const problemOf = (error: ParseResult.ParseError): Problem => {
  const { path, expected, actual } = locate(error.issue, [])
  const at = written(path)
  return {
    path: at,
    problem:
      actual === undefined
        ? `has no ${at}`
        : at === ""
          ? `is ${kindOf(actual.value)}`
          : `has ${kindOf(actual.value)} at ${at}`,
    allowed: told(expected),
  }
}
