/** A field that breaks a rule, and how. The wording is the caller's. */
export interface BrokenRule<Field extends string, Code extends string> {
  /** The field, in the service's spelling. */
  readonly field: Field;
  /** How it breaks its rule. */
  readonly code: Code;
}
