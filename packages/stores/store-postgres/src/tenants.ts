/** Tenants that share the tables of a schema, each as a role of its own, kept apart by the server. */
import { quoted } from "./dialect.js"

/** The tables whose rows belong to a session, and the session of a row. */
const ofSession = {
  events: "events.id >> 32",
  projections: "projections.session",
  summaries: "summaries.session",
}

/**
 * The statements that let roles use the tables of a schema, each of them only the sessions that it has started. Row-level
 * security of the server holds for whatever a role runs there, and two roles can use the same session ids.
 *
 * Run them as the owner of the tables, once, after {@link migrations}; for further roles, run them with `again: true`. The owner
 * and superusers still see the sessions of all roles: no tenant may be one of these.
 *
 * @param schema - the name of the schema; `memfold` by default
 * @param roles - the roles of the tenants, which exist
 * @param again - whether the tables have their policies, and only the roles are new; `false` by default
 *
 * @example
 * ```ts
 * import { migrations, tenants } from "@memfold/store-postgres"
 *
 * console.log([...migrations(), ...tenants({ roles: ["acme", "globex"] })].join(";\n\n"))
 * ```
 */
export const tenants = ({
  schema = "memfold",
  roles,
  again = false,
}: {
  readonly schema?: string
  readonly roles: ReadonlyArray<string>
  readonly again?: boolean
}): ReadonlyArray<string> => {
  const s = quoted(schema)
  const to = roles.map(quoted).join(", ")
  const own = ["sessions", ...Object.keys(ofSession)].map((name) => `${s}.${name}`)
  const policies = [
    `ALTER TABLE ${s}.sessions ADD COLUMN tenant NAME NOT NULL DEFAULT current_user`,
    `ALTER TABLE ${s}.sessions DROP CONSTRAINT sessions_name_key, ADD CONSTRAINT sessions_name_key UNIQUE (name, tenant)`,
    `CREATE POLICY tenant ON ${s}.sessions USING (tenant = current_user)`,
    ...Object.entries(ofSession).map(
      ([name, session]) =>
        `CREATE POLICY tenant ON ${s}.${name} USING (EXISTS (SELECT 1 FROM ${s}.sessions WHERE sessions.id = ${session}))`,
    ),
    ...own.map((name) => `ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY`),
  ]
  return [
    ...(again ? [] : policies),
    `GRANT USAGE ON SCHEMA ${s} TO ${to}`,
    `GRANT SELECT ON ${s}.migrations, ${s}.feed, ${s}.log, ${s}.compressed_summaries TO ${to}`,
    `GRANT SELECT, INSERT ON ${s}.types TO ${to}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ${own.join(", ")} TO ${to}`,
  ]
}
