import type { Operation } from "../../../resources/operations/operation.ts";
import type { Scope } from "../../../core/settings/api_tokens.ts";

/** What a reader of the console may do. */
export interface Reader {
  /** How notes are signed, and how the log names the reader. */
  readonly name: string;
  /** Whether the reader may take notes. */
  readonly supports: boolean;
  /** Whether the reader may do everything else too. */
  readonly operates: boolean;
}

/** Whether a reader may have an operation done. */
export function mayDo(
  { supports, operates }: Pick<Reader, "supports" | "operates">,
  { scope }: Operation,
): boolean {
  return scope === "operate" ? operates : supports;
}

/** The tokens that open the console. */
export interface KnownTokens {
  /** Who holds a token; null for an unknown one. */
  callerOf(token: string): {
    /** The token's name: letters, digits and `. _ -`. */
    readonly name: string;
    /** What it allows. */
    readonly scope: Scope;
  } | null;
}

/** Who may open the console. */
export type Access =
  /** Anyone who reaches the address; only for loopback. */
  | { readonly kind: "open"; readonly operates: boolean }
  /** Anyone who holds one of the tokens. */
  | { readonly kind: "tokens"; readonly tokens: KnownTokens };
