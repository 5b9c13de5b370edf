/** Who did what: the actor of events, and the audit trail. */
export { Actor, as, CurrentActor } from "./event/Actor.js"
export { isTrail } from "./event/Event.js"
export { auditOf, type AuditEntry, type AuditReport } from "./audit/audit.js"
export { type CheckedTrail, note, readTrail, type Subject, trailOf } from "./audit/Trail.js"
