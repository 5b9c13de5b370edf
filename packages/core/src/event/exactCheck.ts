/**
 * Quick checks of plain JSON, derived from schemas. A quick check says whether decoding a value would give an equal one with
 * its fields in the same order. Nearly every value passes. A value that does not pass may still be valid: the schema decides.
 *
 * An append and the reading of a log check each message; by the schema, that takes several times as long as everything
 * else that is done with it. In a new process, the schema also takes milliseconds to compile.
 */
import { Option, Schema, SchemaAST } from "effect"

type Check = (value: unknown) => boolean

/**
 * The quick check of a schema. It is compiled at its first use, and the checks of schemas within it are shared.
 *
 * A value passes only if the schema accepts it, and both decoding and encoding would give an equal value with its fields in
 * the same order. Then `JSON.stringify` of the value is what encoding would give. The check does not look into data of
 * type `unknown`: that is JSON already.
 *
 * @param schema a schema that decodes to what it encodes to, of the kinds that messages, events and states consist of
 * @returns the check; at its first use it throws an `Error` if the schema has a part of another kind
 */
export const exactCheck = <A>(schema: Schema.Schema<A>): ((value: unknown) => value is A) => {
  let check: Check | undefined
  return (value): value is A => (check ??= checkOf(schema.ast))(value)
}

/** By identity: a schema that occurs in several schemas has one check. */
const checks = new WeakMap<SchemaAST.AST, Check>()

const checkOf = (ast: SchemaAST.AST): Check => {
  const before = checks.get(ast)
  if (before !== undefined) return before
  const check = compile(ast)
  checks.set(ast, check)
  return check
}

const compile = (ast: SchemaAST.AST): Check => {
  switch (ast._tag) {
    case "UnknownKeyword":
      // JSON has no `undefined`. It is also what the holes of a sparse array look like.
      return (value) => value !== undefined
    case "StringKeyword":
      return (value) => typeof value === "string"
    case "BooleanKeyword":
      return (value) => typeof value === "boolean"
    case "NumberKeyword":
    case "Refinement":
      return numberOf(ast)
    case "Literal":
      return (value) => value === ast.literal
    case "Union":
      return unionOf(ast)
    case "TupleType":
      return listOf(ast)
    case "TypeLiteral":
      return ast.indexSignatures.length === 0 ? structOf(ast) : recordOf(ast)
    default:
      throw unsupported(ast)
  }
}

const unsupported = (ast: SchemaAST.AST): Error =>
  new Error(`There is no quick check of ${String(ast)} (${ast._tag}): add its kind to exactCheck`)

/** JSON has finite numbers only. */
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value)
const isInteger: Check = (value) => Number.isSafeInteger(value)

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** A number, and its refinements by the ids that `effect` gives to its own. */
const numberOf = (ast: SchemaAST.AST): Check => {
  if (SchemaAST.isNumberKeyword(ast)) return isNumber
  if (!SchemaAST.isRefinement(ast)) throw unsupported(ast)
  const from = numberOf(ast.from)
  switch (Option.getOrNull(SchemaAST.getSchemaIdAnnotation(ast))) {
    case Schema.FiniteSchemaId:
    case Schema.JsonNumberSchemaId:
      return from
    case Schema.IntSchemaId:
      return from === isNumber ? isInteger : (value) => isInteger(value) && from(value)
    case Schema.GreaterThanOrEqualToSchemaId: {
      const minimum = minimumOf(ast)
      return (value) => from(value) && (value as number) >= minimum
    }
    default:
      throw unsupported(ast)
  }
}

const minimumOf = (ast: SchemaAST.Refinement): number => {
  const { minimum } = Option.getOrElse(SchemaAST.getJSONSchemaAnnotation(ast), () => ({})) as {
    readonly minimum?: unknown
  }
  if (typeof minimum !== "number") throw unsupported(ast)
  return minimum
}

/** An array whose elements are all of one kind. */
const listOf = (ast: SchemaAST.TupleType): Check => {
  const [rest, more] = ast.rest
  if (ast.elements.length > 0 || rest === undefined || more !== undefined) throw unsupported(ast)
  const check = checkOf(rest.type)
  return (value) => {
    if (!Array.isArray(value)) return false
    // `every` would pass over the holes of a sparse array.
    for (let position = 0; position < value.length; position++) if (!check(value[position])) return false
    return true
  }
}

/** An object with any keys. Decoding would set the prototype of its copy where it has a key `__proto__`. */
const recordOf = (ast: SchemaAST.TypeLiteral): Check => {
  const [signature, more] = ast.indexSignatures
  if (ast.propertySignatures.length > 0 || signature === undefined || more !== undefined)
    throw unsupported(ast)
  if (!SchemaAST.isStringKeyword(signature.parameter)) throw unsupported(ast)
  const isRecord: Check = (value) => isPlain(value) && !Object.hasOwn(value, "__proto__")
  if (SchemaAST.isUnknownKeyword(signature.type)) return isRecord
  const check = checkOf(signature.type)
  return (value) => isRecord(value) && Object.values(value as object).every(check)
}

/** An object that has the required fields, any of the others, and nothing else, in the order of the schema. */
const structOf = (ast: SchemaAST.TypeLiteral): Check => {
  const fields = ast.propertySignatures.map(({ name, type, isOptional }) => {
    if (typeof name !== "string") throw unsupported(ast)
    return { name, check: checkOf(type), isOptional }
  })
  return (value) => {
    if (!isPlain(value)) return false
    const names = Object.keys(value)
    let position = 0
    for (const { name, check, isOptional } of fields) {
      if (names[position] === name) {
        if (!check(value[name])) return false
        position++
      } else if (!isOptional) return false
    }
    return position === names.length
  }
}

/**
 * Literals, at most one kind of other values or structs with a tag, and `undefined`, which JSON does not have. Of any other
 * union, more than one member may accept a value, and the first one decides what it is decoded to.
 */
const unionOf = (ast: SchemaAST.Union): Check => {
  const types = membersOf(ast)
  const literals = types.filter(SchemaAST.isLiteral).map(({ literal }): unknown => literal)
  const others = types.filter((type) => !SchemaAST.isLiteral(type))
  const [other, another] = others
  const isLiteral = literalOf(literals)
  if (other === undefined) return isLiteral
  const check = another === undefined ? checkOf(other) : taggedOf(ast, others)
  return literals.length === 0 ? check : (value) => isLiteral(value) || check(value)
}

const membersOf = (ast: SchemaAST.Union): ReadonlyArray<SchemaAST.AST> =>
  ast.types.flatMap((type) =>
    SchemaAST.isUnion(type) ? membersOf(type) : SchemaAST.isUndefinedKeyword(type) ? [] : [type],
  )

const literalOf = (literals: ReadonlyArray<unknown>): Check => {
  const [only] = literals
  return literals.length === 1 ? (value) => value === only : (value) => literals.includes(value)
}

/** Structs that differ in the literal of one field, by which the struct of a value is found without trying each. */
const taggedOf = (ast: SchemaAST.Union, structs: ReadonlyArray<SchemaAST.AST>): Check => {
  const tags = structs.map(tagsOf)
  const name = [...(tags[0]?.keys() ?? [])].find(
    (name) =>
      tags.every((literals) => literals.has(name)) &&
      new Set(tags.map((literals) => literals.get(name))).size === tags.length,
  )
  if (name === undefined) throw unsupported(ast)
  const byTag = new Map(structs.map((struct, position) => [tags[position]?.get(name), checkOf(struct)]))
  return (value) => isPlain(value) && byTag.get(value[name])?.(value) === true
}

/** The literals of a struct's required fields, by the name of the field. */
const tagsOf = (ast: SchemaAST.AST): ReadonlyMap<string, unknown> =>
  new Map(
    SchemaAST.isTypeLiteral(ast)
      ? ast.propertySignatures.flatMap(({ name, type, isOptional }) =>
          typeof name === "string" && !isOptional && SchemaAST.isLiteral(type) ? [[name, type.literal]] : [],
        )
      : [],
  )
